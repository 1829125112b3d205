// Removes dead instructions and computations: a backward pass finds the needed ones, which are then copied.
#include "common/hlo/analysis/effects.h"
#include "common/passes/copy.h"
#include "common/passes/passes.h"

namespace hlod::passes {

using namespace hlo;

namespace {

// Returns, by instruction, true when it is needed. Parameters are always needed, because they are the
// signature.
std::vector<bool> FindNeeded(const Computation& computation, const std::vector<bool>& effects) {
  std::vector<bool> needed(computation.size());
  needed[computation.root_id()] = true;
  for (NodeId id = computation.size(); id-- > 0;) {
    const Instruction instruction = computation[id];
    needed[id] = needed[id] || instruction.opcode() == kParameter || HasSideEffect(instruction, effects);
    if (!needed[id]) continue;
    for (const NodeId operand : instruction.operands()) needed[operand] = true;
  }
  return needed;
}

}  // namespace

std::unique_ptr<Module> RemoveDead(const Module& module, PassWatch* watch) {
  const std::vector<bool> effects = FindSideEffects(module);
  const ComputationId count = module.computation_count();
  std::vector<std::vector<bool>> needed(count);
  std::vector<bool> reached(count);
  reached[module.entry_id()] = true;
  for (ComputationId c = count; c-- > 0;) {
    if (!reached[c]) continue;
    const Computation& computation = module.computation(c);
    needed[c] = FindNeeded(computation, effects);
    for (NodeId id = 0; id < computation.size(); ++id) {
      if (!needed[c][id]) continue;
      for (const ComputationId callee : computation[id].called()) reached[callee] = true;
    }
  }

  std::unique_ptr<Module> result = EmptyCopy(module);
  std::vector<ComputationId> computations(count);
  for (ComputationId c = 0; c < count; ++c) {
    if (!reached[c]) continue;
    const Computation& from = module.computation(c);
    computations[c] = result->computation_count();
    ComputationCopy copy(module, from, AddEmptyCopy(*result, from), computations);
    for (NodeId id = 0; id < from.size(); ++id) {
      if (watch != nullptr && watch->Stops()) return nullptr;
      if (needed[c][id]) copy.set_node(id, copy.Clone(from[id]));
    }
    copy.to().set_root(copy.node(from.root_id()));
  }
  result->set_entry(computations[module.entry_id()]);
  return result;
}

}  // namespace hlod::passes
