// Marking values in a lowering as constant for gradients.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Returns `made` as a constant for differentiation, or unchanged if it is `from`.
Op WithoutGradient(Lowering& l, Op made, Op from);

}  // namespace hlod::lazy
