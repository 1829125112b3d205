// Traces a C++ function of trees into a computation, and calls it from the open trace. Transforms, Scan and
// the other control flow are built on it.
//
//   auto arguments = std::tuple(params, x);
//   TracedCall call("scale", arguments, Caller::Here());        // From here on, operations are the body.
//   auto [p, y] = call.arguments();                              // Stand-ins without values.
//   return call.Return(y * p.scale);                             // Ends the body and calls it on the
//   arguments.
//
// In the body, a captured tensor becomes one more parameter, whose value is read at each call; captured host
// tensors become constants, unless the arguments are host tensors. Reading a value, Sync(), and updating an
// argument or a captured tensor in place throw an Error with the line. Each call draws new random numbers.
// Bodies nest.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"
#include "hlod/transform/traceable.h"
#include "hlod/transform/tree.h"

namespace hlod {
template <typename Arguments>
class TracedCall {
 public:
  TracedCall(const char* what, const Arguments& arguments, Caller caller)
      : caller_(caller),
        outside_(Leaves(arguments)),
        body_(what, outside_, LeafPaths(arguments, "argument"), caller),
        inside_(WithLeaves(arguments, body_.arguments())) {}

  // Trees of stand-ins for the arguments.
  const Arguments& arguments() const { return inside_; }
  const Caller& caller() const { return caller_; }

  // Ends the body and returns it as a function, to be called later with leaves like those of the arguments.
  template <typename R>
  std::shared_ptr<const lazy::Traced> Finish(const R& results) {
    return body_.Finish(Leaves(results), LeafPaths(results, "result"));
  }
  // Ends the body, calls it on the arguments and returns a tree like `results`.
  template <typename R>
  R Return(const R& results) {
    return WithLeaves(results, lazy::CallTraced(*Finish(results), outside_, caller_));
  }

  // Traces f as one of several functions whose results must be alike. `first` is the first one's result; the
  // first call sets it. Throws, naming the leaf, when f's result has another tree, shape or type.
  template <typename R, typename F>
  static std::shared_ptr<const lazy::Traced> TraceBranch(F&& f, const Arguments& arguments,
                                                         std::optional<R>& first, const Caller& caller) {
    TracedCall call("cond", arguments, caller);
    R result = std::apply(f, call.arguments());
    if (first.has_value()) {
      lazy::CheckBranch(Flatten(*first), LeafPaths(*first, "result"), Flatten(result),
                        LeafPaths(result, "result"), caller);
    }
    auto traced = call.Finish(result);
    if (!first.has_value()) first = std::move(result);
    return traced;
  }

 private:
  const Caller caller_;
  const std::vector<Tensor> outside_;
  lazy::Body body_;
  const Arguments inside_;
};

}  // namespace hlod
