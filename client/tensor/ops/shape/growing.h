// Views that grow, for operations whose instructions depend on the size of a dimension.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Returns the size to which such an operation pads dimension `dim` of x, so that its instructions are the
// same for all sizes up to there and one program serves them (program/bounded_sizes.h). It is the dimension's
// own size unless the sizes at the line have varied.
int64_t PaddedSize(Lowering& l, Op x, int64_t dim);

// Returns x with dimension `dim` padded to `size` elements of `value`.
Op PaddedTo(Lowering& l, Op x, int64_t dim, int64_t size, Op value);

}  // namespace hlod::lazy
