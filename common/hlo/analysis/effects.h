// The side effects of instructions: the one definition that passes, analyses and the engine share.
#pragma once

#include <vector>

#include "common/hlo/module.h"

namespace hlod::hlo {

// Returns true when an instruction has an effect of its own: its opcode communicates with the host or with
// other devices (traits kSideEffect and kCollective), or it is a custom-call that declares one. Computations
// that it calls are not considered. `rng` has no effect here, because a number that was drawn cannot be told
// from one that was not.
bool HasOwnSideEffect(Instruction instruction);

// Returns, by computation, true when running it has an effect, callees included. Callees have smaller ids.
std::vector<bool> FindSideEffects(const Module& module);
// Does the same for one instruction, with the FindSideEffects of its module in `effects`.
bool HasSideEffect(Instruction instruction, const std::vector<bool>& effects);

}  // namespace hlod::hlo
