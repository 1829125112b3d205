// Copies instructions, with their notes.
#include "common/hlo/instruction_cloner.h"

#include <algorithm>

namespace hlod::hlo {

void CloneNotes(Instruction old, Computation& to, NodeId now, ClonedNotes notes) {
  if (notes == ClonedNotes::kNone) return;
  to.ShareNotes(now, old.computation(), old.id());
  if (notes == ClonedNotes::kAll) return;
  const Notes* const shared = to.notes(now);
  if (shared != nullptr && !shared->control_predecessors.empty())
    to.mutable_notes(now).control_predecessors.clear();
}

NodeId CloneInstruction(Instruction old, absl::Span<const NodeId> operands, Computation& to,
                        ClonedNotes notes, const ClonedParts& parts) {
  // `old` may be in `to`, whose arena moves: its callees are copied before.
  const absl::Span<const ComputationId> called = parts.called.value_or(old.called());
  const absl::InlinedVector<ComputationId, 2> callees(called.begin(), called.end());
  const NodeId now = to.Append(old.opcode(), parts.shape.value_or(old.shape_id()),
                               parts.attributes.value_or(old.attributes_id()), operands, callees);
  CloneNotes(old, to, now, notes);
  return now;
}

absl::InlinedVector<NodeId, 8> InstructionCloner::operands(Instruction old) const {
  absl::InlinedVector<NodeId, 8> copies;
  for (const NodeId id : old.operands()) copies.push_back(nodes_[id]);
  return copies;
}

bool InstructionCloner::HasOperands(NodeId old) const {
  const absl::Span<const NodeId> operands = from_[old].operands();
  return std::all_of(operands.begin(), operands.end(), [this](NodeId id) { return has(id); });
}

absl::InlinedVector<ComputationId, 2> InstructionCloner::called(Instruction old) const {
  absl::InlinedVector<ComputationId, 2> callees;
  for (const ComputationId id : old.called()) callees.push_back(options_.callee ? options_.callee(id) : id);
  return callees;
}

NodeId InstructionCloner::Append(Instruction old, const ClonedParts& parts) {
  ClonedParts changed = parts;
  Translation* const translation = options_.translation;
  if (translation != nullptr && !changed.shape) changed.shape = translation->shape(old.shape_id());
  if (translation != nullptr && !changed.attributes) {
    changed.attributes = translation->attributes(old.attributes_id());
  }
  absl::InlinedVector<ComputationId, 2> callees;
  if (options_.callee && !changed.called) {
    callees = called(old);
    changed.called = callees;
  }
  const NodeId now = CloneInstruction(old, operands(old), to_, ClonedNotes::kNone, changed);
  if (options_.notes) CloneMappedNotes(old, now);
  return now;
}

void InstructionCloner::CloneAll() {
  for (NodeId id = 0; id < from_.size(); ++id) {
    if (!has(id)) Clone(id);
  }
  to_.set_root(nodes_[from_.root_id()]);
}

void InstructionCloner::CloneMappedNotes(Instruction old, NodeId now) {
  const Notes* const notes = old.computation().notes(old.id());
  if (notes == nullptr) return;
  to_.ShareNotes(now, old.computation(), old.id());
  if (notes->control_predecessors.empty()) return;
  std::vector<NodeId> predecessors;
  for (const NodeId predecessor : notes->control_predecessors) {
    if (has(predecessor)) predecessors.push_back(nodes_[predecessor]);
  }
  // The same ids: the notes stay shared.
  if (predecessors == notes->control_predecessors) return;
  to_.mutable_notes(now).control_predecessors = std::move(predecessors);
}

}  // namespace hlod::hlo
