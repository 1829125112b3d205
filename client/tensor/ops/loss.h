// What losses share.
#pragma once

#include "hlod/ops/loss.h"

namespace hlod::lazy {

Tensor Reduced(const Tensor& loss, Reduction reduction);

}  // namespace hlod::lazy
