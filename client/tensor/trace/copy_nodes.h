// Copies the instructions of one computation into another, replacing some of them.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "client/tensor/trace/trace.h"
#include "common/hlo/instruction_cloner.h"

namespace hlod::lazy {

// Returns, for each node of `from` below `limit`, its new node: the one returned by `given(node,
// instruction)`, an std::optional<NodeId>, or, if that is nullopt, the result of `append(node, operands)`,
// where `operands` are the copies of its operands.
template <typename Given, typename Append>
std::vector<NodeId> CopyNodes(const hlo::Computation& from, NodeId limit, Given given, Append append) {
  std::vector<NodeId> copies(from.size());
  absl::InlinedVector<NodeId, 8> operands;
  for (NodeId node = 0; node < limit; ++node) {
    const hlo::Instruction instruction = from[node];
    if (const std::optional<NodeId> known = given(node, instruction); known.has_value()) {
      copies[node] = *known;
      continue;
    }
    operands.clear();
    for (const NodeId operand : instruction.operands()) operands.push_back(copies[operand]);
    copies[node] = append(node, absl::MakeConstSpan(operands));
  }
  return copies;
}

// A `given` for CopyNodes that replaces parameter i by `parameters[i]`.
inline auto InPlaceOfParameters(absl::Span<const NodeId> parameters) {
  return [parameters](NodeId, const hlo::Instruction& instruction) -> std::optional<NodeId> {
    if (instruction.opcode() != hlo::kParameter) return std::nullopt;
    return parameters[static_cast<size_t>(instruction.parameter_number())];
  };
}

// An `append` for CopyNodes that copies into `to`, a computation over the same tables.
inline auto AppendingTo(hlo::Computation& to, const hlo::Computation& from) {
  return [&to, &from](NodeId node, absl::Span<const NodeId> operands) {
    return hlo::CloneInstruction(from[node], operands, to, hlo::ClonedNotes::kAll);
  };
}

}  // namespace hlod::lazy
