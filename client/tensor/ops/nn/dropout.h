// Dropout for use in other operations.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Zeroes elements of x with probability p and multiplies the others by 1 / (1 - p). REQUIRES: x is floating.
Op DropoutOps(Lowering& l, Op x, double p);

}  // namespace hlod::lazy
