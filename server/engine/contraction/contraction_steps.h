// The steps of contractions: dot and convolution, by oneDNN or the engine's own loops.
#pragma once

#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

MaybeStep MakeDotStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
// A ragged dot over free or contracting dimensions; one over a batch dimension is an ordinary dot.
MaybeStep MakeRaggedDotStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
MaybeStep MakeConvolutionStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
