// Dropout in other operations.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Elements of x, which is floating, zeroed with probability p, the others grown by 1 / (1 - p).
Op DropoutOps(Lowering& l, Op x, double p, const Caller& caller);

}  // namespace hlod::lazy
