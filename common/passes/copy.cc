// Copies modules, instructions and their notes.
#include "common/passes/copy.h"

namespace hlod {

using namespace hlo;  // The passes are functions over the IR.

absl::InlinedVector<NodeId, 8> ComputationCopy::operands(Instruction old) const {
  absl::InlinedVector<NodeId, 8> mapped;
  for (const NodeId id : old.operands()) mapped.push_back(nodes_[id]);
  return mapped;
}

uint32_t ComputationCopy::use_count(NodeId old) {
  if (use_counts_.empty()) {
    use_counts_.resize(from_.size());
    ++use_counts_[from_.root_id()];
    for (NodeId id = 0; id < from_.size(); ++id) {
      for (const NodeId operand : from_[id].operands()) ++use_counts_[operand];
    }
  }
  return use_counts_[old];
}

NodeId ComputationCopy::Clone(Instruction old, ShapeId shape) {
  absl::InlinedVector<ComputationId, 2> called;
  for (const ComputationId callee : old.called()) called.push_back(computations_[callee]);
  const NodeId now = to_.Append(old.opcode(), shape, old.attributes_id(), operands(old), called);
  CopyNotes(old, now, true);
  return now;
}

NodeId ComputationCopy::Replace(Instruction old, Opcode opcode, ShapeId shape, const Attributes& attributes,
                                absl::Span<const NodeId> operands) {
  const NodeId now = to_.Append(opcode, shape, tables().Intern(attributes), operands);
  CopyNotes(old, now, false);
  return now;
}

void ComputationCopy::CopyNotes(Instruction old, NodeId now, bool all) {
  if (all) {
    ShareNotesMapped(old, nodes_, to_, now);
  } else if (const Notes* notes = old.computation().notes(old.id()); notes != nullptr) {
    to_.mutable_notes(now).metadata = notes->metadata;
  }
}

void ShareNotesMapped(Instruction old, absl::Span<const NodeId> nodes, Computation& to, NodeId now) {
  const Notes* notes = old.computation().notes(old.id());
  if (notes == nullptr) return;
  to.ShareNotes(now, old.computation(), old.id());
  if (notes->control_predecessors.empty()) return;
  std::vector<NodeId> predecessors;
  for (const NodeId predecessor : notes->control_predecessors) {
    if (nodes[predecessor] != Computation::kNoNode) predecessors.push_back(nodes[predecessor]);
  }
  to.mutable_notes(now).control_predecessors = std::move(predecessors);
}

std::unique_ptr<Module> EmptyCopy(const Module& module) {
  auto copy = std::make_unique<Module>(module.name(), module.shared_tables());
  copy->config = module.config;
  return copy;
}

Computation& AddEmptyCopy(Module& to, const Computation& from) {
  Computation& copy = to.AddComputation(from.name());
  copy.config = from.config;
  return copy;
}

}  // namespace hlod
