// The steps of random numbers.
#pragma once

#include <memory>

#include "common/base/random_counter.h"
#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// rng-bit-generator: threefry and philox.
MaybeStep MakeRandomStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

// For rng-get-and-update-state, by a counter that all runs of a plan share.
MaybeStep MakeRandomStateStep(hlo::Instruction instruction, std::shared_ptr<RandomCounter> counter);

}  // namespace hlod::engine
