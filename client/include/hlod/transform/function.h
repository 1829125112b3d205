// Tracing a C++ function of trees into a computation, and calling it from what is recorded. What transforms,
// scan and the other control flow are made of.
//
//   auto arguments = std::tuple(params, x);
//   TracedCall call("scale", arguments, Caller::Here());        // From here on what is computed is the body.
//   auto [p, y] = call.arguments();                              // Stand-ins without values.
//   return call.Return(y * p.scale);                             // Ends the body and calls it on the
//   arguments.
//
// In the body: a tensor of the surroundings becomes one more parameter, which is read again at each call;
// host tensors are constants as they are, unless the arguments are host tensors; reading a value, Sync() and
// changing an argument or a captured tensor in place throw an Error with the line. Random numbers go on from
// call to call. Bodies nest.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"
#include "hlod/transform/tree.h"

namespace hlod {
namespace lazy {

struct Function;
class FunctionTrace;

// A traced function and what a call of it needs. Immutable; shared by all who call it.
class Traced {
 public:
  explicit Traced(Function function, const char* what);
  ~Traced();

  const Function& function() const { return *function_; }
  const char* what() const { return what_; }  // "jit"
  // Whether captured tensors still have the shapes, types and devices that they had.
  bool StillFits() const;

 private:
  std::unique_ptr<Function> function_;
  const char* what_;
  std::vector<std::string> captured_;
};

// The results of the function's nodes appended to the open trace; on the host they are evaluated.
std::vector<Tensor> CallTraced(const Traced& traced, const std::vector<Tensor>& arguments,
                               const Caller& caller);

// The body of a function while it is traced: from the constructor until Finish() or the destructor.
class Body {
 public:
  // `paths` name the arguments in errors. `what` names the function and lives for ever.
  Body(const char* what, const std::vector<Tensor>& arguments, const std::vector<std::string>& paths,
       const Caller& caller);
  ~Body();

  // Stand-ins for the arguments.
  const std::vector<Tensor>& arguments() const { return arguments_; }
  // Ends the body. `paths` name the results in errors.
  std::shared_ptr<const Traced> Finish(const std::vector<Tensor>& results,
                                       const std::vector<std::string>& paths);

 private:
  const char* const what_;
  const Caller caller_;
  std::unique_ptr<FunctionTrace> trace_;
  std::vector<Tensor> arguments_;
};

}  // namespace lazy

template <typename Arguments>
class TracedCall {
 public:
  TracedCall(const char* what, const Arguments& arguments, Caller caller)
      : caller_(caller),
        outside_(Leaves(arguments)),
        body_(what, outside_, LeafPaths(arguments, "argument"), caller),
        inside_(WithLeaves(arguments, body_.arguments())) {}

  // Trees of stand-ins.
  const Arguments& arguments() const { return inside_; }
  const Caller& caller() const { return caller_; }

  // Ends the body: what it computes, to be called later with leaves like the arguments'.
  template <typename R>
  std::shared_ptr<const lazy::Traced> Finish(const R& results) {
    return body_.Finish(Leaves(results), LeafPaths(results, "result"));
  }
  // Ends the body and calls it on the arguments: a tree like `results`.
  template <typename R>
  R Return(const R& results) {
    return WithLeaves(results, lazy::CallTraced(*Finish(results), outside_, caller_));
  }

 private:
  const Caller caller_;
  const std::vector<Tensor> outside_;
  lazy::Body body_;
  const Arguments inside_;
};

}  // namespace hlod
