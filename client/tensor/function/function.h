// A part of a graph as a function: what some nodes compute from others, kept apart from any graph, so that it
// can be appended to one again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/trace/trace.h"
#include "common/hlo/own_derivative.h"

namespace hlod::lazy {

struct Function {
  // Parameters 0 to arguments - 1 are the arguments, those after them are `extra`. No dead nodes.
  std::unique_ptr<hlo::Computation> computation;
  size_t arguments = 0;
  std::vector<Parameter> extra;  // Captured tensors, values and numbers.
  std::vector<NodeId> outputs;
  std::vector<std::pair<NodeId, uint32_t>> origins;  // (first node, origin), as in a graph.
  uint64_t random_steps = 0;                         // What a call takes from the stream of random numbers.

  std::vector<Tensor> Captured() const;  // Of `extra`, in order, without the numbers.
};

// What computes `outputs` from `inputs`: the walk stops at them, also where one input depends on another. A
// parameter of the graph that is not an input becomes an extra one. REQUIRES: TraceLock.
Function Extract(const Trace& graph, absl::Span<const NodeId> inputs, absl::Span<const NodeId> outputs);

// What the parameters after the arguments stand for in one call: `captured` (as Captured() gives them), and
// numbers, random ones being the next of the stream, or those `repeats` times as far apart.
std::vector<Op> ExtraArguments(Lowering& l, const Function& function, absl::Span<const Op> captured,
                               uint64_t repeats = 1);
// Appends the function's nodes with `arguments` and `captured` (as Captured() gives them) in place of its
// parameters.
std::vector<Op> Inline(Lowering& l, const Function& function, absl::Span<const Op> arguments,
                       absl::Span<const Op> captured);

// A node that is its operand, through which no gradient flows: what Detach() makes in a traced function.
inline Op StopGradient(Lowering&, Op x) { return hlo::StopGradient(x); }
using hlo::IsStopped;

}  // namespace hlod::lazy
