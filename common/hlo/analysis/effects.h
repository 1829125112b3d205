// The side effects of instructions: the one definition that passes, analyses and the engine share.
#pragma once

#include <vector>

#include "common/hlo/module.h"

namespace hlod::hlo {

// Returns true when an instruction has an effect of its own: its opcode communicates with the host or with
// other devices (traits kSideEffect and kCollective), or it is a custom-call that declares one. Computations
// that it calls are not considered. `rng` has no effect in this sense: whether an unused number was drawn
// cannot be observed.
bool HasOwnSideEffect(Instruction instruction);

// Returns, by computation, true when running it has an effect, including the effects of callees. Callees have
// smaller ids.
std::vector<bool> FindSideEffects(const Module& module);
// Does the same for one instruction; `effects` is the FindSideEffects of its module.
bool HasSideEffect(Instruction instruction, const std::vector<bool>& effects);

}  // namespace hlod::hlo
