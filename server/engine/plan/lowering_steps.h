// Which step runs an instruction that is in no fusion group, and which instructions need none because their
// bytes are their operand's.
#pragma once

#include <memory>

#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// Whether the result is operand 0's bytes, unchanged: reshape, copy, opt-barrier, bitcast-convert and convert
// that change no bits, custom-calls that are hints.
bool IsAlias(hlo::Instruction instruction);

// Whether lowering takes the instruction apart without a step: parameters, constants, tuples, calls, control
// flow, aliases.
bool IsStructural(hlo::Instruction instruction);

// The step from the factories of step.h, or null: a reference step will do.
MaybeStep MakeSingleStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
