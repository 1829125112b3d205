// Marking what a lowering makes as constant for gradients, where they would cancel.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// `made`, through which no gradient flows: unless it is `from` itself.
Op WithoutGradient(Lowering& l, Op made, Op from);

}  // namespace hlod::lazy
