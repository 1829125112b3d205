// Expands rng into bits of the philox generator and arithmetic on them.
#pragma once

#include <cstdint>

#include "common/hlo/module.h"

namespace hlod::passes {

// Adds to `to` the computation of an rng. It takes the rng's two operands and the 128-bit state u64[2] from
// which it draws.
hlo::ComputationId ExpandRng(hlo::Module& to, hlo::Instruction rng, uint64_t key);

// Returns the number that an rng adds to its state: the number of 32-bit words of its result, where an
// element of a smaller type takes a word.
int64_t WordsDrawn(hlo::Instruction rng);

}  // namespace hlod::passes
