// A part of a trace as a function: the nodes that compute some nodes from others, copied out of the trace, so
// that they can be appended to traces repeatedly.
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
  // Parameters 0 to arguments - 1 are the arguments; those after them are `extra`. There are no dead nodes.
  std::unique_ptr<hlo::Computation> computation;
  size_t arguments = 0;
  std::vector<Parameter> extra;  // The extra parameters: captured tensors, values and numbers.
  std::vector<NodeId> outputs;
  std::vector<std::pair<NodeId, uint32_t>> origins;  // Pairs of a first node and an origin, as in a trace.
  uint64_t random_steps = 0;                         // The number of steps of the random stream per call.

  std::vector<Tensor> Captured() const;  // Returns the tensors among `extra`, in order.
};

// Returns the function that computes `outputs` from `inputs`. The walk back from the outputs stops at the
// inputs, even if one input depends on another. A parameter of the trace that is not an input becomes an
// extra one. REQUIRES: TraceLock.
Function Extract(const Trace& graph, absl::Span<const NodeId> inputs, absl::Span<const NodeId> outputs);

// Returns the operands for the parameters after the arguments in one call: `captured` (in the order of
// Captured()), and numbers. A random number becomes the next position of the stream; positions are `repeats`
// times as far apart.
std::vector<Op> ExtraArguments(Lowering& l, const Function& function, absl::Span<const Op> captured,
                               uint64_t repeats = 1);
// Appends the function's nodes with `arguments` and `captured` (in the order of Captured()) in place of its
// parameters. Returns its outputs.
std::vector<Op> Inline(Lowering& l, const Function& function, absl::Span<const Op> arguments,
                       absl::Span<const Op> captured);

// Returns a node equal to its operand that gradients do not flow through: the result of Detach() in a traced
// function.
inline Op StopGradient(Lowering&, Op x) { return hlo::StopGradient(x); }
using hlo::IsStopped;

}  // namespace hlod::lazy
