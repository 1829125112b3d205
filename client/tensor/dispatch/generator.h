// Counter-based random numbers: determines the ones that an operation uses.
#pragma once

#include <cstdint>

#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/value/value.h"

namespace hlod::lazy {

// A position in the stream of one device.
struct RandomState {
  uint64_t seed = 0, offset = 0;
};

// Returns the next position of the stream at `place` (of the function being traced there, if there is one),
// and advances the stream by the bits that `elements` numbers of `bits` bits use.
RandomState Draw(Place place, int64_t elements, int bits);
// Returns the next position and advances the stream by `steps` steps of the counter, of 128 bits each.
RandomState Advance(Place place, uint64_t steps);
void Seed(Place place, uint64_t seed);
// Seeds every stream, including those of devices that are used later.
void SeedAll(uint64_t seed);

// Returns random bits from a position on, as unsigned integers of `type`, by Philox. The position is a
// parameter that is sent in the execute, so that the next draw uses the same program.
Op RandomBits(Lowering& l, RandomState state, PrimitiveType type, const Dims& dims);
// Returns numbers uniform in [0, 1), multiples of 2^-p where p is the precision in bits of `type`, which is
// floating.
Op RandomUniform(Lowering& l, RandomState state, PrimitiveType type, const Dims& dims);

}  // namespace hlod::lazy
