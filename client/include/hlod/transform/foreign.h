// Foreign code inside a trace: HLO modules, custom calls, and C++ functions on host tensors.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hlod/runtime/types.h"
#include "hlod/tensor/tensor.h"
#include "hlod/transform/tree.h"

namespace hlod {
namespace lazy {
class LoadedProgram;
}

// An HLO or StableHLO module as a function of tensors: what jax.jit(f).lower(...).as_text() prints, what
// jax.export writes (mlir_module_serialized), what compiler_ir("hlo") serialises, or HLO text. A call is
// recorded like any operation, its instructions among the caller's, so that the program around it is compiled
// as one with it. Unused parameters stay arguments. Aliasing and donation that the module states are not
// taken over. Copies share the program. Transforms go through it as through operations; at kinks its
// derivatives are JAX's (hlod/transform/foreign_kinks.inc).
class LoadedFunction {
 public:
  explicit LoadedFunction(std::shared_ptr<const lazy::LoadedProgram> program)
      : program_(std::move(program)) {}

  // The shapes of the array leaves of the parameters, and of the result, in order.
  const std::vector<Shape>& parameters() const;
  const std::vector<Shape>& results() const;
  const std::string& name() const;

  // Returns the result's leaves. Throws an Error that names the argument when it has another shape or type,
  // or when the number of arguments differs.
  std::vector<Tensor> operator()(const std::vector<Tensor>& arguments, Caller caller = Caller::Here()) const;
  // The same with trees: the arguments are their leaves, the result is like `result`.
  template <typename R, typename... Args>
  R Call(const R& result, const Args&... arguments) const {
    return WithLeaves(result, (*this)(Leaves(std::tuple<const Args&...>(arguments...))));
  }

 private:
  std::shared_ptr<const lazy::LoadedProgram> program_;
};

// Loads a file: a serialised HloModuleProto or HloProto, HLO text, StableHLO text, or a StableHLO artifact.
// Throws an Error that names the mistake in the path, the text ("line:column: ...") or the module.
LoadedFunction LoadFunction(const std::string& path, Caller caller = Caller::Here());
// The same from bytes.
LoadedFunction LoadFunctionFromBytes(std::string_view bytes, Caller caller = Caller::Here());

struct CustomCallOptions {
  std::string payload;  // The backend config, byte for byte.
  int api_version = 0;  // XLA's CustomCallApiVersion; 0 is the original one.
  bool has_side_effect = false;
};
// Adds a custom-call instruction with one result of the given shape, or one per shape. The daemon looks up
// `target` when it compiles the program, and fails naming it when it is unknown. Target, payload and options
// are part of the program's key. XLA's custom-call.
Tensor CustomCall(const std::string& target, const std::vector<Tensor>& inputs, const Shape& result,
                  const CustomCallOptions& options = {}, Caller caller = Caller::Here());
std::vector<Tensor> CustomCall(const std::string& target, const std::vector<Tensor>& inputs,
                               const std::vector<Shape>& results, const CustomCallOptions& options = {},
                               Caller caller = Caller::Here());

// Runs `f` at once on host copies of the inputs, and puts its results on the inputs' device: for computations
// without an operation. It closes the trace, reads the inputs and uploads the results, which the statistics
// count under the cause host_function. Throws inside a traced function, as every read does.
std::vector<Tensor> HostFunction(const std::string& name,
                                 const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
                                 const std::vector<Tensor>& inputs, Caller caller = Caller::Here());

}  // namespace hlod
