// What an instruction does besides computing its value: the one definition of passes, analyses and the
// engine.
#pragma once

#include <vector>

#include "common/hlo/module.h"

namespace hlod::hlo {

// Whether an instruction has an effect of its own: its opcode talks to the host or to other devices (traits
// kSideEffect and kCollective), or it is a custom-call that says so. Computations that it calls are not
// looked at. `rng` has none here: nobody can tell a number that was drawn from one that was not.
bool HasOwnSideEffect(Instruction instruction);

// By computation: whether running it has an effect, its callees included. Callees have smaller ids.
std::vector<bool> FindSideEffects(const Module& module);
// The same of one instruction, given FindSideEffects of its module.
bool HasSideEffect(Instruction instruction, const std::vector<bool>& effects);

}  // namespace hlod::hlo
