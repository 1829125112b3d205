// The steps that order elements: sort (one or several operands, any comparator; fast for the usual ones),
// topk and the TopK custom-call.
#pragma once

#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

MaybeStep MakeSortStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
