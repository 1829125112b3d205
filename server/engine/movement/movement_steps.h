// The steps that move data. MakeMovementStep makes transpose, broadcast, reverse, slice, dynamic-slice,
// dynamic-update-slice, pad, concatenate, copy, iota, and reshape and bitcast-convert when they must be
// materialised. MakeGatherScatterStep makes gather and scatter (with recognised combiners, or any other
// through ScalarFunction).
#pragma once

#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

MaybeStep MakeMovementStep(const hlo::Module& module, hlo::Instruction instruction, int threads);
MaybeStep MakeGatherScatterStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
