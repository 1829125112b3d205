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
// recorded like any operation: its instructions become part of the caller's program, and both are compiled
// together. Unused parameters remain arguments. The module's aliasing and donation are ignored. Copies share
// the program. Transforms apply to it as to operations; at kinks its derivatives are JAX's
// (hlod/transform/foreign_kinks.inc).
class LoadedFunction {
 public:
  explicit LoadedFunction(std::shared_ptr<const lazy::LoadedProgram> program)
      : program_(std::move(program)) {}

  // The shapes of the array leaves of the parameters (parameters()) and of the result (results()), in order.
  const std::vector<Shape>& parameters() const;
  const std::vector<Shape>& results() const;
  const std::string& name() const;

  // Returns the result's leaves. Throws an Error that names the argument when it has another shape or type,
  // or when the number of arguments differs.
  std::vector<Tensor> operator()(const std::vector<Tensor>& arguments, Caller caller = Caller::Here()) const;
  // Calls it with trees: the arguments are their leaves, and the result is a tree like `result`.
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
// Loads from the bytes of such a file.
LoadedFunction LoadFunctionFromBytes(std::string_view bytes, Caller caller = Caller::Here());

struct CustomCallOptions {
  std::string payload;  // The backend config, byte for byte.
  int api_version = 0;  // XLA's CustomCallApiVersion; 0 is the original one.
  bool has_side_effect = false;
};
// Adds a custom-call instruction with one result of the given shape, or one per shape. The daemon looks up
// `target` when it compiles the program; an unknown target is an error that names it. Target, payload and
// options are part of the program's key. XLA's custom-call.
Tensor CustomCall(const std::string& target, const std::vector<Tensor>& inputs, const Shape& result,
                  const CustomCallOptions& options = {}, Caller caller = Caller::Here());
std::vector<Tensor> CustomCall(const std::string& target, const std::vector<Tensor>& inputs,
                               const std::vector<Shape>& results, const CustomCallOptions& options = {},
                               Caller caller = Caller::Here());

// Runs `f` at once on host copies of the inputs, and copies its results to the inputs' device: for
// computations that hlod has no operation for. Closes the trace, reads the inputs and uploads the results;
// the statistics count these transfers under the cause host_function. Throws inside a traced function, as
// every read does.
std::vector<Tensor> HostFunction(const std::string& name,
                                 const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
                                 const std::vector<Tensor>& inputs, Caller caller = Caller::Here());

}  // namespace hlod
