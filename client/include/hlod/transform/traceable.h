// Declares what the templates of this folder call in the library: a traced function, and its calls by each
// transform and each kind of control flow. Programs include the headers beside this one, and use none of it.
//
// `paths` name tensors in errors, as LeafPaths() does. `what` names the function; it must live as long as the
// program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "hlod/runtime/caller.h"
#include "hlod/runtime/error.h"
#include "hlod/runtime/types.h"
#include "hlod/tensor/operand.h"
#include "hlod/tensor/tensor.h"
#include "hlod/transform/tree.h"

namespace hlod {

struct AssociativeScanOptions;
struct CaptureOptions;
struct CheckpointPolicy;
struct TracingProfile;
struct VmapOptions;

namespace lazy {

struct Function;
struct Print;  // client/tensor/function/prints.h
class FunctionTrace;
class TransposedFunction;

// A traced function and the data that calls of it need. Immutable; shared by its callers.
class Traced {
 public:
  // The last outputs of the function are the values of `prints`.
  Traced(Function function, const char* what, std::vector<Print> prints);
  ~Traced();

  const Function& function() const { return *function_; }
  const char* what() const { return what_; }  // "jit"
  const std::vector<Print>& prints() const { return *prints_; }
  // The number of outputs without those of prints.
  size_t result_count() const;
  // Returns true when captured tensors still have the shapes, types and devices that they had.
  bool StillFits() const;

 private:
  std::unique_ptr<Function> function_;
  std::unique_ptr<std::vector<Print>> prints_;
  const char* what_;
  std::vector<std::string> captured_;
};

// Appends a call of the function to the open trace and returns its results; for host tensors it is evaluated
// at once.
std::vector<Tensor> CallTraced(const Traced& traced, const std::vector<Tensor>& arguments,
                               const Caller& caller);

// The body of a function while it is traced: from the constructor until Finish() or the destructor.
class Body {
 public:
  Body(const char* what, const std::vector<Tensor>& arguments, const std::vector<std::string>& paths,
       const Caller& caller);
  ~Body();

  // Stand-ins for the arguments.
  const std::vector<Tensor>& arguments() const { return arguments_; }
  // Ends the body.
  std::shared_ptr<const Traced> Finish(const std::vector<Tensor>& results,
                                       const std::vector<std::string>& paths);

 private:
  const char* const what_;
  const Caller caller_;
  std::unique_ptr<FunctionTrace> trace_;
  std::vector<Tensor> arguments_;
};

// Jit() and Compile().

// Returns the structure followed by "f32[2,3]@0" for each leaf: a trace is reused for an equal signature.
std::string SignatureOf(const std::vector<Tensor>& leaves, std::string structure);
// Throws for an index in `donate` that is not below `arguments`.
void CheckDonated(const std::vector<int>& donate, size_t arguments, const Caller& caller);
// Marks the tensors as donated: their memory now belongs to the program.
void Donate(const std::vector<Tensor>& leaves, const Caller& caller);
// Returns one line per instruction: "multiply f32[10]".
std::vector<std::string> InstructionsOf(const Traced& traced);
// Adds a recording to `graphs` unless it equals one of them. Throws when they become more than
// options.max_different_graphs: "Maximum number of different graphs allowed per function exceeded: 1", with
// the first difference.
void AddGraph(std::vector<std::vector<std::string>>& graphs, std::vector<std::string> graph,
              const CaptureOptions& options, const Caller& caller);
// Returns the number of times that the tensor's data was changed in place.
uint64_t WriteCount(const Tensor& tensor);
// Throws `error` as the error of a function that must not break.
[[noreturn]] void ThrowBroken(const Error& error, const CaptureOptions& options, const Caller& caller);
// Runs `call` `calls` times and reports. `call` returns an object that must live until its step has ended.
TracingProfile ProfileOf(std::string name, bool cut_phases, int calls,
                         const std::function<std::shared_ptr<void>()>& call, const Caller& caller);

// Derivatives.

// Appends reverse mode to an open body: from `outputs` with `cotangents` (undefined: zero) to `inputs`, which
// are stand-ins of the body's arguments. `paths` name the inputs in errors: their types must be floating or
// complex.
std::vector<Tensor> AppendVjp(const char* what, const std::vector<Tensor>& outputs,
                              const std::vector<Tensor>& cotangents, const std::vector<Tensor>& inputs,
                              const std::vector<std::string>& paths, const Caller& caller);
// Reverse mode as a function of the inputs, of the outputs' cotangents and of `residuals`, which are tensors
// of the open body and are set by it. Called with their values, it returns the inputs' cotangents.
std::shared_ptr<const TransposedFunction> Transposed(const char* what, const std::vector<Tensor>& outputs,
                                                     const std::vector<Tensor>& inputs,
                                                     const std::vector<std::string>& paths,
                                                     std::vector<Tensor>& residuals, const Caller& caller);
std::vector<Tensor> CallTransposed(const TransposedFunction& function, const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& cotangents,
                                   const std::vector<Tensor>& residuals, const Caller& caller);
// Appends forward mode to an open body. Returns the outputs, then their tangents. The tangents of integers
// and bools are ignored, and are zeros in the result.
std::vector<Tensor> AppendJvp(const char* what, const std::vector<Tensor>& outputs,
                              const std::vector<Tensor>& inputs, const std::vector<Tensor>& tangents,
                              const Caller& caller);
// Returns 1 with the type of `value`, which must be a floating tensor of one element.
Tensor Seed(const char* what, const Tensor& value, const Caller& caller);

// Returns placeholders with the tensors' shapes, types and devices.
std::vector<Tensor> PlaceholdersLike(const std::vector<Tensor>& tensors, const Caller& caller);
// Returns zeros with the tensors' shapes, types and devices.
std::vector<Tensor> ZerosOf(const std::vector<Tensor>& tensors, const Caller& caller);

std::vector<Tensor> CallCheckpointed(const Traced& traced, const std::vector<Tensor>& arguments,
                                     const CheckpointPolicy& policy, const Caller& caller);

// The traced parts of a call with a custom derivative: f and the parts of its rule.
struct CustomCallee {
  enum class Kind { kVjp, kJvp } kind = Kind::kVjp;
  // kVjp: `forward` maps f's arguments to f's results and the residuals. kJvp: it maps f's arguments and
  // their tangents to f's results and their tangents.
  std::shared_ptr<const Traced> f, forward;
  // kVjp: maps residuals and cotangents of the results to the arguments' cotangents. kJvp: null.
  std::shared_ptr<const Traced> backward;
};
std::vector<Tensor> CallCustom(const CustomCallee& callee, const std::vector<Tensor>& arguments,
                               const Caller& caller);
// Throws unless `given` has the tree, shapes and types of `wanted`.
void CheckRule(const char* what, const Flattened& given, const std::vector<std::string>& paths,
               const Flattened& wanted, const std::vector<std::string>& wanted_paths, const Caller& caller);

// Batches.

// Returns the first example of the batch, of which only shapes and types are used.
std::vector<Tensor> FirstExamples(const std::vector<Tensor>& leaves,
                                  const std::vector<std::optional<int64_t>>& axes,
                                  const std::vector<std::string>& paths, const Caller& caller);
// Returns the index of an example as an argument of the traced function, a counter to map over; empty without
// a name of the axis.
std::vector<Tensor> AxisCounter(const VmapOptions& options, const std::vector<Tensor>& leaves,
                                const std::vector<std::optional<int64_t>>& axes);
// Returns the counter's first example.
std::vector<Tensor> FirstOfCounter(const std::vector<Tensor>& counter);
// While it lives, collectives of this thread know the axis: its name, its number of examples, and the index
// of the example, which is a stand-in of the function that is traced.
class AxisScope {
 public:
  AxisScope(const VmapOptions& options, const std::vector<Tensor>& counter, const std::vector<Tensor>& index);
  ~AxisScope();
  AxisScope(const AxisScope&) = delete;
  AxisScope& operator=(const AxisScope&) = delete;

 private:
  const bool named_;
};
// Throws when `listed` entries of VmapOptions::in are more than the arguments.
void CheckListed(size_t listed, size_t arguments, const Caller& caller);
// Calls the function on all examples at once.
std::vector<Tensor> CallBatched(const Traced& traced, const std::vector<Tensor>& arguments,
                                const std::vector<std::optional<int64_t>>& axes, const VmapOptions& options,
                                const Caller& caller);

// Control flow.

// The inputs of a loop over slices, before its body is traced.
struct ScanInputs {
  std::vector<Tensor> carries, stacks;  // The stacks are sliced along dimension 0.
  std::vector<std::string> carry_paths, stack_paths;
  int64_t length = 0;
  Caller caller;
};
// Returns a stand-in for a slice of each stack. Throws unless all stacks have the same length.
std::vector<Tensor> SlicesOf(ScanInputs& inputs);
// Throws, naming the leaf, unless the carry that the body returned has the tree, shapes and types of the
// given one.
void CheckCarry(const char* what, const Flattened& given, const std::vector<std::string>& paths,
                const Flattened& returned, const std::vector<std::string>& returned_paths,
                const Caller& caller);
// Returns the final carries, then the stacked outputs. The body takes carries and slices, and returns carries
// and outputs.
std::vector<Tensor> CallScan(const Traced& body, const ScanInputs& inputs, bool reverse);
// Returns the first carries for which `condition` is false.
std::vector<Tensor> CallWhile(const Traced& condition, const Traced& body, const std::vector<Tensor>& carries,
                              const Caller& caller);
// Returns the results of branch `selector`, which is a pred (the first branch is for true) or an s32.
std::vector<Tensor> CallBranches(const Operand& selector,
                                 const std::vector<std::shared_ptr<const Traced>>& branches,
                                 const std::vector<Tensor>& arguments);
// Throws, naming the leaf, when the results of two branches differ in tree, shape or type.
void CheckBranch(const Flattened& first, const std::vector<std::string>& paths, const Flattened& other,
                 const std::vector<std::string>& other_paths, const Caller& caller);
// Returns the s64 indices lower, lower + 1, ..., on the device of the carries `like`.
Tensor Counter(int64_t lower, int64_t length, const std::vector<Tensor>& like, const Caller& caller);
// Returns the leaves of all layers stacked along a new dimension 0. Throws, naming layer and leaf, when
// layers differ.
std::vector<Tensor> StackLayers(const std::vector<Flattened>& layers,
                                const std::vector<std::vector<std::string>>& paths, const Caller& caller);
using Leafwise = std::function<std::vector<Tensor>(const std::vector<Tensor>&, const std::vector<Tensor>&)>;
// Implements AssociativeScan(). Throws, naming the leaf, when leaves have different sizes along the
// dimension.
std::vector<Tensor> CallAssociativeScan(const Leafwise& f, const std::vector<Tensor>& leaves,
                                        const std::vector<std::string>& paths,
                                        const AssociativeScanOptions& options, const Caller& caller);
// Returns the first `batches` * `size` slices of each leaf as [batches, size, ...].
std::vector<Tensor> Batches(const std::vector<Tensor>& leaves, int64_t batches, int64_t size,
                            const Caller& caller);
std::vector<Tensor> Rest(const std::vector<Tensor>& leaves, int64_t from, const Caller& caller);
// Concatenates the results of the batches, then those of the remaining slices, if any.
std::vector<Tensor> Together(const std::vector<Tensor>& batches, const std::vector<Tensor>& rest,
                             const Caller& caller);
// Returns the number of slices of the leaves. Throws when it differs among them, and for a negative
// `batch_size`.
int64_t CheckMap(const std::vector<Tensor>& leaves, const std::vector<std::string>& paths, int64_t batch_size,
                 const Caller& caller);

// Returns first and second in one list.
Dims JoinedDims(Dims first, const Dims& second);
// Returns the unit vectors, [n, dims...]: one for each of the n elements of a tensor like `x`.
Tensor UnitVectors(const Tensor& x, const Caller& caller);

// Parts of templates.

// The value of a function's result R, which is the value or a pair of it and other results.
template <typename R>
struct Aux {
  static_assert(std::is_same_v<R, Tensor>,
                "The function gives a Tensor, or a pair of a Tensor and other results.");
  static constexpr bool kHas = false;
  static const Tensor& Value(const R& result) { return result; }
};
template <typename A>
struct Aux<std::pair<Tensor, A>> {
  static constexpr bool kHas = true;
  static const Tensor& Value(const std::pair<Tensor, A>& result) { return result.first; }
};

// Returns the elements of a tuple with the given indices: one alone, or a tuple.
template <typename Tuple, size_t First, size_t... Rest>
auto Picked(const Tuple& t, std::index_sequence<First, Rest...>) {
  if constexpr (sizeof...(Rest) == 0) return std::get<First>(t);
  else return std::tuple(std::get<First>(t), std::get<Rest>(t)...);
}

// Calls f and returns an object that keeps its result.
template <typename F, typename Tuple>
std::shared_ptr<void> CallKeeping(const F& f, const Tuple& arguments) {
  using R = decltype(std::apply(f, arguments));
  if constexpr (std::is_void_v<R>) {
    std::apply(f, arguments);
    return nullptr;
  } else {
    return std::make_shared<std::decay_t<R>>(std::apply(f, arguments));
  }
}

// Returns f as a function of one of its arguments; the others are fixed.
template <size_t Argument, typename F, typename... Args>
auto OfArgument(const F& f, const std::tuple<Args...>& args) {
  return [&f, args](const std::tuple_element_t<Argument, std::tuple<Args...>>& x) {
    auto all = args;
    std::get<Argument>(all) = x;
    auto result = std::apply(f, all);
    static_assert(std::is_same_v<decltype(result), Tensor>,
                  "Jacrev, Jacfwd and Hessian take a function that gives a Tensor.");
    return result;
  };
}

constexpr size_t kGridDimsMax = 6;
constexpr size_t kKernelTensorsMax = 24;

// Returns true when f takes as many references to Argument as there are indices.
template <typename F, typename Argument, size_t... I>
constexpr bool Takes(std::index_sequence<I...>) {
  return std::is_invocable_v<F&, decltype(*(std::declval<Argument*>() + I))...>;
}
// Calls f(arguments[0], ..., arguments[count - 1]). Returns false when f does not take `count` arguments.
template <size_t kCount, typename F, typename Argument, typename Use>
bool CallWith(F& f, Argument* arguments, size_t count, const Use& use) {
  if (count == kCount) {
    if constexpr (Takes<F, Argument>(std::make_index_sequence<kCount>())) {
      [&]<size_t... I>(std::index_sequence<I...>) {
        if constexpr (std::is_void_v<decltype(f(arguments[I]...))>) f(arguments[I]...);
        else use(f(arguments[I]...));
      }
      (std::make_index_sequence<kCount>());
      return true;
    }
  }
  if constexpr (kCount == 0) return false;
  else return CallWith<kCount - 1>(f, arguments, count, use);
}
// Returns true when f takes kMost arguments or fewer.
template <typename F, typename Argument, size_t kMost>
constexpr bool TakesSome() {
  if constexpr (Takes<F, Argument>(std::make_index_sequence<kMost>())) return true;
  else if constexpr (kMost == 0) return false;
  else return TakesSome<F, Argument, kMost - 1>();
}

}  // namespace lazy
}  // namespace hlod
