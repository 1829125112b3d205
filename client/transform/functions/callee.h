// Computations that instructions with bodies call: builds them from functions and scratch traces, and takes
// them apart.
#pragma once

#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/function/function.h"

namespace hlod::lazy {

// Builds a computation in the table of callees. REQUIRES: TraceLock.
class Callee {
 public:
  explicit Callee(const char* name) : computation_(TraceTables::Get().tables(), name) {}

  NodeId Parameter(const Shape& shape);
  // Appends a parameter per shape; with `tupled`, one tuple parameter, and returns its elements.
  std::vector<NodeId> Parameters(const std::vector<Shape>& shapes, bool tupled);
  NodeId Element(NodeId tuple, int64_t index);
  // Appends the nodes of `from`, with `parameters` in place of its parameters; returns the nodes for
  // `outputs`.
  std::vector<NodeId> Append(const hlo::Computation& from, absl::Span<const NodeId> parameters,
                             absl::Span<const NodeId> outputs);
  std::vector<NodeId> Append(const Function& function, absl::Span<const NodeId> parameters) {
    return Append(*function.computation, parameters, function.outputs);
  }
  NodeId Constant(Literal literal);
  NodeId Zeros(const Shape& shape);
  // Appends x + a constant.
  NodeId AddConstant(NodeId x, Literal literal);
  hlo::ComputationId FinishTuple(const std::vector<NodeId>& elements);
  hlo::ComputationId Finish(NodeId root);

 private:
  hlo::ShapeId Intern(const Shape& shape) { return computation_.tables().Intern(shape); }
  hlo::AttributesId Intern(hlo::Attributes attributes) { return computation_.tables().Intern(attributes); }

  hlo::Computation computation_;
  uint32_t parameters_ = 0;
};

// A copy of a callee with arrays as parameters and outputs, to which instructions can be added.
struct CalleeBody {
  hlo::Computation computation;
  std::vector<NodeId> parameters, outputs;
  bool tupled = false;  // True when the callee has one parameter, the tuple of all parameters.
  bool single = false;  // True when the callee returns its only output as an array instead of a tuple.

  Shape ParameterShape(size_t i) const { return computation[parameters[i]].shape(); }
  Shape OutputShape(size_t i) const { return computation[outputs[i]].shape(); }
};
// Returns the body of a callee. Refuses tuples within tuples.
CalleeBody BodyOf(hlo::ComputationId id);
// Returns a callee with this body that returns a tuple of the outputs.
hlo::ComputationId CalleeOf(const char* name, const CalleeBody& body);

// Returns a callee that computes the tuple of `outputs` from `parameters`, which are all parameters of the
// scratch trace. With `tupled` it takes one tuple.
hlo::ComputationId CalleeOf(const char* name, const Trace& scratch, absl::Span<const Op> parameters,
                            absl::Span<const Op> outputs, bool tupled);
// Like CalleeOf for one output, which the callee returns as an array.
hlo::ComputationId PlainCalleeOf(const char* name, const Trace& scratch, absl::Span<const Op> parameters,
                                 Op output, bool tupled);

// A wider form of an instruction with bodies: its result has `added` more elements from index `at` on.
struct TupleExtension {
  absl::InlinedVector<hlo::ComputationId, 2> called;
  Shape shape;
  size_t at = 0, added = 0;
  std::function<void(hlo::Notes&)> mark;  // Changes the instruction's notes, when set.
};
// Replaces `node` by its wider form; other nodes keep their ids. Returns false, and changes nothing, if an
// instruction other than get-tuple-element uses the node.
bool ExtendTuple(hlo::Computation& computation, NodeId node, const TupleExtension& wider);

// Appends and returns the elements [begin, end) of a tuple.
std::vector<Op> ElementsOf(Lowering& l, Op tuple, size_t begin, size_t end);
Shape TupleOf(Lowering& l, absl::Span<const Op> elements);
}  // namespace hlod::lazy
