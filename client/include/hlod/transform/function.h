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

// A traced function and the data that calls of it need. Immutable; shared by its callers.
class Traced {
 public:
  explicit Traced(Function function, const char* what);
  ~Traced();

  const Function& function() const { return *function_; }
  const char* what() const { return what_; }  // "jit"
  // Returns true when captured tensors still have the shapes, types and devices that they had.
  bool StillFits() const;

 private:
  std::unique_ptr<Function> function_;
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
  // `paths` name the arguments in errors. `what` names the function; it must live as long as the program.
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

 private:
  const Caller caller_;
  const std::vector<Tensor> outside_;
  lazy::Body body_;
  const Arguments inside_;
};

}  // namespace hlod
