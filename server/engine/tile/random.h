// The step of rng-bit-generator: threefry and philox.
#pragma once

#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

MaybeStep MakeRandomStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
