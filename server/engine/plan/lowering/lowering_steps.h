// Chooses the step that runs an instruction outside of fusion groups, and determines which instructions need
// none because their result has the bytes of their operand.
#pragma once

#include <memory>

#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// Returns true when the result has the unchanged bytes of operand 0: a reshape, copy or opt-barrier, a
// bitcast-convert or convert that does not change bits, or a custom-call that is only a hint.
bool IsAlias(hlo::Instruction instruction);

// Returns true when lowering handles the instruction without a step: parameters, constants, tuples, calls,
// control flow and aliases.
bool IsStructural(hlo::Instruction instruction);

// Returns a step made by the factories of step.h, or null when the instruction needs a reference step.
MaybeStep MakeSingleStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
