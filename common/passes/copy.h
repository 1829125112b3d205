// Helpers of the passes: they copy a module instruction by instruction while some are replaced.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "common/hlo/instruction_cloner.h"
#include "common/hlo/module.h"
#include "common/passes/passes.h"

namespace hlod::passes {

// A computation that is being copied into a new module. node(id) returns the new instruction for each
// instruction before the current one.
class ComputationCopy {
 public:
  ComputationCopy(const hlo::Module& module, const hlo::Computation& from, hlo::Computation& to,
                  const std::vector<hlo::ComputationId>& computations)
      : module_(module),
        from_(from),
        to_(to),
        computations_(computations),
        cloner_(from, to, {.callee = [&computations](hlo::ComputationId old) { return computations[old]; }}) {
  }

  // The module that is being copied.
  const hlo::Module& module() const { return module_; }
  hlo::Computation& to() { return to_; }
  hlo::Tables& tables() const { return to_.tables(); }

  // Returns the new instruction that replaces an old one; kNoNode when it was dropped.
  hlo::NodeId node(hlo::NodeId old) const { return cloner_.node(old); }
  void set_node(hlo::NodeId old, hlo::NodeId now) { cloner_.set_node(old, now); }
  // Returns the new instruction that replaces operand `i` of an old one. The view is valid until the next
  // Append.
  hlo::Instruction operand(hlo::Instruction old, uint32_t i) const { return to_[node(old.operands()[i])]; }
  absl::InlinedVector<hlo::NodeId, 8> operands(hlo::Instruction old) const { return cloner_.operands(old); }
  // Returns the number of times that an old instruction is used as an operand or as the root.
  uint32_t use_count(hlo::NodeId old);
  hlo::ComputationId computation(hlo::ComputationId old) const { return computations_[old]; }

  // Appends a copy of the instruction over its new operands and callees, with its notes.
  hlo::NodeId Clone(hlo::Instruction old) { return cloner_.Append(old); }
  // Appends a copy with another shape.
  hlo::NodeId Clone(hlo::Instruction old, hlo::ShapeId shape) {
    return cloner_.Append(old, {.shape = shape});
  }
  // Appends a copy over other new operands, with another shape if one is given.
  hlo::NodeId CloneOver(hlo::Instruction old, absl::Span<const hlo::NodeId> operands,
                        std::optional<hlo::ShapeId> shape = std::nullopt);
  // Appends another instruction in its place, with the same metadata.
  hlo::NodeId Replace(hlo::Instruction old, hlo::Opcode opcode, hlo::ShapeId shape,
                      const hlo::Attributes& attributes, absl::Span<const hlo::NodeId> operands);

 private:
  const hlo::Module& module_;
  const hlo::Computation& from_;
  hlo::Computation& to_;
  const std::vector<hlo::ComputationId>& computations_;
  hlo::InstructionCloner cloner_;
  std::vector<uint32_t> use_counts_;  // Computed at the first call of use_count.
};

// Returns an empty module with the name, layout, aliases, donors and attributes of `module`, over the same
// Tables. A schedule is dropped.
std::unique_ptr<hlo::Module> EmptyCopy(const hlo::Module& module);

// Adds to `to` an empty computation with the name and properties of `from`, and returns it.
hlo::Computation& AddEmptyCopy(hlo::Module& to, const hlo::Computation& from);

// Returns a new module in which each instruction for which `make` returns a computation, which it adds to the
// given module, is a call of that computation with the instruction's metadata. The call's operands are the
// instruction's, and those that `add_operands` appends.
std::unique_ptr<hlo::Module> WithFunctions(
    const hlo::Module& module,
    absl::FunctionRef<std::optional<hlo::ComputationId>(hlo::Instruction, hlo::Module&)> make,
    absl::FunctionRef<void(ComputationCopy&, hlo::Instruction, absl::InlinedVector<hlo::NodeId, 8>&)>
        add_operands = [](ComputationCopy&, hlo::Instruction, absl::InlinedVector<hlo::NodeId, 8>&) {});

// Returns a new module in which each instruction is replaced by rule(copy, instruction): the id of a new
// instruction, or kNoNode to drop it. Returns null if `watch` (may be null) stopped it.
template <typename Rule>
std::unique_ptr<hlo::Module> Rewritten(const hlo::Module& module, PassWatch* watch, Rule rule) {
  std::unique_ptr<hlo::Module> result = EmptyCopy(module);
  std::vector<hlo::ComputationId> computations;
  for (hlo::ComputationId c = 0; c < module.computation_count(); ++c) {
    const hlo::Computation& from = module.computation(c);
    ComputationCopy copy(module, from, AddEmptyCopy(*result, from), computations);
    for (hlo::NodeId id = 0; id < from.size(); ++id) {
      if (watch != nullptr && watch->Stops()) return nullptr;
      copy.set_node(id, rule(copy, from[id]));
    }
    copy.to().set_root(copy.node(from.root_id()));
    computations.push_back(c);
  }
  result->set_entry(module.entry_id());
  return result;
}

}  // namespace hlod::passes
