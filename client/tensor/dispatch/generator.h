// Counter-based random numbers: which ones an operation takes.
#pragma once

#include <cstdint>

#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/value/value.h"

namespace hlod::lazy {

// A position in the stream of one device.
struct RandomState {
  uint64_t seed = 0, offset = 0;
};

// The next position at `place` (of the function that is traced there, if one is), which advances by what
// `elements` numbers of `bits` bits use.
RandomState Draw(Place place, int64_t elements, int bits);
// The same for a number of steps of the counter, 128 bits each; and where the stream stands.
RandomState Advance(Place place, uint64_t steps);
void Seed(Place place, uint64_t seed);
// Every stream, also those of devices that are met later.
void SeedAll(uint64_t seed);

// Random bits from a position on, as unsigned integers of `type`; Philox. The position is an inline
// parameter, so that drawing again is the same program.
Op RandomBits(Lowering& l, RandomState state, PrimitiveType type, const Dims& dims);
// Uniform in [0, 1) with as many bits as the type's mantissa has. `type` is floating.
Op RandomUniform(Lowering& l, RandomState state, PrimitiveType type, const Dims& dims);

}  // namespace hlod::lazy
