// The step of fft.
#pragma once

#include "server/engine/run/step.h"

namespace hlod::engine {

// Returns a step for any of the four kinds, along the innermost one to three dimensions. Returns null for a
// length with a prime factor so large that a transform of it would not fit in memory.
MaybeStep MakeFftStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
