// Forward and reverse mode over a part of a computation, by the rules of rules.h.
#pragma once

#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "client/tensor/lowering.h"

namespace hlod::lazy {

// A part of a computation: its nodes [first, limit), as far as they depend on `inputs`, where the walk stops.
// An input may lie before the part.
struct Part {
  const hlo::Computation& computation;
  NodeId first = 0, limit = 0;
  std::vector<NodeId> inputs;
  std::vector<bool> wanted;      // Of each input: whether it varies.
  const Graph* graph = nullptr;  // Whose computation it is, for errors: may be null.
};

// Refuses an instruction that has no rule, naming it and the line where it was recorded.
[[noreturn]] void RefuseRule(const Part& part, NodeId node, const char* rule);

// The node of the target graph that has the value of a node of the part.
using Resolve = std::function<Op(NodeId)>;

// Reverse mode: the cotangents of the inputs, from those of nodes (`outputs` with `cotangents`, an absent one
// being zero). Appends to l. Absent results are zero, as are those of inputs that are not wanted; of an input
// that is named twice the first has the sum.
std::vector<Op> PullBack(Lowering& l, const Part& part, const Resolve& resolve,
                         absl::Span<const NodeId> outputs, absl::Span<const Op> cotangents);

// Forward mode: the tangents of `outputs` from those of the inputs.
std::vector<Op> PushForward(Lowering& l, const Part& part, const Resolve& resolve,
                            absl::Span<const Op> tangents, absl::Span<const NodeId> outputs);

// Copies nodes of `from` to the graph on demand. Parameters are `parameters`.
class OnDemand {
 public:
  OnDemand(Lowering& l, const hlo::Computation& from, std::vector<Op> parameters);
  Op operator()(NodeId node);
  void Set(NodeId node, Op op) { copies_[node] = op.id; }

 private:
  Lowering& l_;
  const hlo::Computation& from_;
  std::vector<Op> parameters_;
  std::vector<NodeId> copies_;
};

}  // namespace hlod::lazy
