// The steps of reductions: reduce (those that the fused kernels do not handle), reduce-window (cumulative
// ones in linear time) and select-and-scatter.
#pragma once

#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

MaybeStep MakeReduceStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
MaybeStep MakeWindowStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
