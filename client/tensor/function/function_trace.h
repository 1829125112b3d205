// Traces a function: while one is traced in this thread, operations at its place are recorded in its trace.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "client/tensor/dispatch/generator.h"
#include "client/tensor/function/function.h"
#include "client/tensor/function/prints.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// A function that is being traced. They nest: a function traced inside captures tensors of the enclosing one.
// `what` names it in errors ("grad", "jit") and lives as long as the process.
class FunctionTrace {
 public:
  // Without a place, the function gets the first device that is used.
  FunctionTrace(const char* what, std::optional<Place> place, const Caller& caller);
  // Fails the tensors that were made inside and are still referred to.
  ~FunctionTrace();
  FunctionTrace(const FunctionTrace&) = delete;
  FunctionTrace& operator=(const FunctionTrace&) = delete;

  static FunctionTrace* Innermost();
  // Returns the trace of the innermost function that is traced at `place`, or null.
  static Trace* GraphAt(Place place);
  // Returns the random stream of the innermost function traced at `place`, or null. Its positions begin at 0;
  // a call adds the position of the device's stream.
  static RandomState* StreamAt(Place place);
  // Restarts the streams of this thread's functions at `seed`: the numbers drawn from now on are the same in
  // every call.
  static void Reseed(uint64_t seed);
  // Returns true when the tensor is a value of a function that is being traced.
  static bool IsInside(const TensorImpl& tensor);

  // Throw when a function is being traced in this thread, because its values do not exist yet. Host values
  // from outside may be read.
  static void CheckRead(const Value& value, const char* operation, const Caller& caller);
  static void CheckSync(const Caller& caller);
  // Refuses to write to an argument, and to a tensor that was not made by the function.
  static void CheckWrite(const Trace& graph, const Storage& storage);
  // Refuses to write to a host tensor that existed before the function was traced.
  static void CheckHostWrite(const Storage& storage);

  // Returns a stand-in for an argument with the type and shape of `like`.
  Tensor Argument(const Tensor& like);
  // Returns the function from the arguments to `results`, which are tensors made inside or captured.
  Function Finish(absl::Span<const Tensor> results);

  const char* what() const { return what_; }
  Printed& printed() { return printed_; }  // By its body.
  Place place() const { return place_.value_or(Place{}); }
  Trace& graph();

 private:
  static FunctionTrace* At(Place place);

  const char* const what_;
  const Caller caller_;
  std::optional<Place> place_;
  std::unique_ptr<Trace> graph_;
  std::vector<NodeId> arguments_;
  std::vector<Ref<Storage>> argument_storages_;
  bool grad_mode_;
  RandomState stream_;
  Printed printed_;
  std::optional<uint64_t> steps_;  // The steps drawn before the first Reseed().
  FunctionTrace* const around_;
  // The largest value id at the beginning: this thread's later values have larger ids.
  const uint64_t begun_;
};

}  // namespace hlod::lazy
