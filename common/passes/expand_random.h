// rng as bits of the philox generator and arithmetic on them.
#pragma once

#include <cstdint>

#include "common/hlo/module.h"

namespace hlod {

// Adds to `to` the computation of an rng: of its two operands and of the 128-bit state u64[2] that it draws
// by.
hlo::ComputationId ExpandRng(hlo::Module& to, hlo::Instruction rng, uint64_t key);

// What an rng adds to its state: 32-bit words of its result, of smaller types a word each.
int64_t WordsDrawn(hlo::Instruction rng);

}  // namespace hlod
