// The reference step: an instruction without its own step, which the evaluator runs on copies of its
// operands.
#pragma once

#include <memory>

#include "common/evaluator/random_counters.h"
#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// Shares ownership of the module of `instruction`. Inputs and outputs are the array leaves of operands and
// result, including tokens. The step allocates memory while it runs, as much as its scratch has. `random`
// holds the counters of its random numbers, across all of its runs.
std::unique_ptr<Step> MakeReferenceStep(
    std::shared_ptr<const hlo::Module> module, hlo::Instruction instruction,
    std::shared_ptr<RandomCounters> random = std::make_shared<RandomCounters>());

}  // namespace hlod::engine
