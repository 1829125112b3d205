// The step of fft.
#pragma once

#include "server/engine/run/step.h"

namespace hlod::engine {

// All four kinds, along the innermost one to three dimensions. Null for a length whose largest prime factor
// is larger than a transform of it could hold in memory.
MaybeStep MakeFftStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
