// Copies modules, instructions and their notes.
#include "common/passes/copy.h"

namespace hlod::passes {

using namespace hlo;  // The passes are functions over the IR.

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

NodeId ComputationCopy::CloneOver(Instruction old, absl::Span<const NodeId> operands,
                                  std::optional<ShapeId> shape) {
  const auto called = cloner_.called(old);
  return CloneInstruction(old, operands, to_, ClonedNotes::kWithoutControl,
                          {.shape = shape, .called = called});
}

NodeId ComputationCopy::Replace(Instruction old, Opcode opcode, ShapeId shape, const Attributes& attributes,
                                absl::Span<const NodeId> operands) {
  const NodeId now = to_.Append(opcode, shape, tables().Intern(attributes), operands);
  if (const Notes* notes = old.computation().notes(old.id()); notes != nullptr)
    to_.mutable_notes(now).metadata = notes->metadata;
  return now;
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

std::unique_ptr<Module> WithFunctions(
    const Module& module, absl::FunctionRef<std::optional<ComputationId>(Instruction, Module&)> make,
    absl::FunctionRef<void(ComputationCopy&, Instruction, absl::InlinedVector<NodeId, 8>&)> add_operands) {
  std::unique_ptr<Module> result = EmptyCopy(module);
  std::vector<ComputationId> computations;
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& from = module.computation(c);
    std::vector<std::optional<ComputationId>> functions(from.size());  // Callees come before their callers.
    for (NodeId id = 0; id < from.size(); ++id) functions[id] = make(from[id], *result);
    ComputationCopy copy(module, from, AddEmptyCopy(*result, from), computations);
    for (NodeId id = 0; id < from.size(); ++id) {
      if (!functions[id].has_value()) {
        copy.set_node(id, copy.Clone(from[id]));
        continue;
      }
      const ComputationId called[] = {*functions[id]};
      const AttributesId attributes = copy.tables().Intern(Attributes(CallAttributes{}));
      absl::InlinedVector<NodeId, 8> operands = copy.operands(from[id]);
      add_operands(copy, from[id], operands);
      const NodeId call = copy.to().Append(kCall, from[id].shape_id(), attributes, operands, called);
      if (const Notes* const notes = from.notes(id); notes != nullptr) {
        copy.to().mutable_notes(call).metadata = notes->metadata;
      }
      copy.set_node(id, call);
    }
    copy.to().set_root(copy.node(from.root_id()));
    computations.push_back(result->computation_count() - 1);
  }
  result->set_entry(computations[module.entry_id()]);
  return result;
}

}  // namespace hlod::passes
