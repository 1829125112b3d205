// Computations that instructions with bodies call: made of functions and of scratch graphs, and taken apart.
#pragma once

#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/function/function.h"

namespace hlod::lazy {

// A computation on the way into the table of callees. REQUIRES: TraceLock.
class Callee {
 public:
  explicit Callee(const char* name) : computation_(TraceTables::Get().tables(), name) {}

  NodeId Parameter(const Shape& shape);
  // A parameter for each shape; `tupled`: the elements of one.
  std::vector<NodeId> Parameters(const std::vector<Shape>& shapes, bool tupled);
  NodeId Element(NodeId tuple, int64_t index);
  // The nodes of `from` on nodes in place of its parameters. Gives those of `outputs`.
  std::vector<NodeId> Append(const hlo::Computation& from, absl::Span<const NodeId> parameters,
                             absl::Span<const NodeId> outputs);
  std::vector<NodeId> Append(const Function& function, absl::Span<const NodeId> parameters) {
    return Append(*function.computation, parameters, function.outputs);
  }
  // x + a constant.
  NodeId AddConstant(NodeId x, Literal literal);
  hlo::ComputationId FinishTuple(const std::vector<NodeId>& elements);
  hlo::ComputationId Finish(NodeId root);

 private:
  hlo::ShapeId Intern(const Shape& shape) { return computation_.tables().Intern(shape); }
  hlo::AttributesId Intern(hlo::Attributes attributes) { return computation_.tables().Intern(attributes); }

  hlo::Computation computation_;
  uint32_t parameters_ = 0;
};

// A callee taken apart: arrays go in and come out, and instructions may be added.
struct CalleeBody {
  hlo::Computation computation;
  std::vector<NodeId> parameters, outputs;
  bool tupled = false;  // The callee takes one tuple of the parameters ...
  bool single = false;  // ... and gives the only output as it is.

  Shape ParameterShape(size_t i) const { return computation[parameters[i]].shape(); }
  Shape OutputShape(size_t i) const { return computation[outputs[i]].shape(); }
};
CalleeBody BodyOf(hlo::ComputationId id);
// The body as a callee again, with a tuple of the outputs.
hlo::ComputationId CalleeOf(const char* name, const CalleeBody& body);

// What computes `outputs` from `parameters`, all of its parameters, in a scratch graph. `tupled`: it takes
// one tuple. The result is a tuple.
hlo::ComputationId CalleeOf(const char* name, const Trace& scratch, absl::Span<const Op> parameters,
                            absl::Span<const Op> outputs, bool tupled);
// The same with one output, as it is.
hlo::ComputationId PlainCalleeOf(const char* name, const Trace& scratch, absl::Span<const Op> parameters,
                                 Op output, bool tupled);

// A wider form of an instruction with bodies: its tuple has `added` more elements from index `at` on.
struct TupleExtension {
  absl::InlinedVector<hlo::ComputationId, 2> called;
  Shape shape;
  size_t at = 0, added = 0;
  std::function<void(hlo::Notes&)> mark;  // Changes its notes, when set.
};
// Puts the wider form in the place of `node`; every other node keeps its id. False, and nothing is changed,
// where something other than get-tuple-element uses the node.
bool ExtendTuple(hlo::Computation& computation, NodeId node, const TupleExtension& wider);

// The elements [begin, end) of a tuple.
std::vector<Op> ElementsOf(Lowering& l, Op tuple, size_t begin, size_t end);
Shape TupleOf(Lowering& l, absl::Span<const Op> elements);
}  // namespace hlod::lazy
