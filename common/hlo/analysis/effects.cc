// Side effects by the opcode table, and through calls.
#include "common/hlo/analysis/effects.h"

#include <algorithm>

namespace hlod::hlo {

bool HasOwnSideEffect(Instruction instruction) {
  if (HasTrait(instruction.opcode(), kSideEffect) || HasTrait(instruction.opcode(), kCollective)) return true;
  return instruction.opcode() == kCustomCall &&
         instruction.attributes<CustomCallAttributes>().has_side_effect;
}

std::vector<bool> FindSideEffects(const Module& module) {
  std::vector<bool> effects(module.computation_count());
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size() && !effects[c]; ++id)
      effects[c] = HasSideEffect(computation[id], effects);
  }
  return effects;
}

bool HasSideEffect(Instruction instruction, const std::vector<bool>& effects) {
  return HasOwnSideEffect(instruction) ||
         std::any_of(instruction.called().begin(), instruction.called().end(),
                     [&effects](ComputationId callee) { return effects[callee]; });
}

}  // namespace hlod::hlo
