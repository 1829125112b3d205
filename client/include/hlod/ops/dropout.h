// Dropout. Outside training each of these is x itself.
#pragma once

#include "hlod/tensor/tensor.h"

namespace hlod {

// Elements are 0 with probability p, and the others grow by 1 / (1 - p).
Tensor Dropout(const Operand& x, double p = 0.5, bool training = true);
// The same for whole channels, the first two dimensions.
Tensor FeatureDropout(const Operand& x, double p = 0.5, bool training = true);
// The same, where the first dimension may be missing (not from Dropout2d, as in PyTorch).
Tensor Dropout1d(const Operand& x, double p = 0.5, bool training = true);
Tensor Dropout2d(const Operand& x, double p = 0.5, bool training = true);
Tensor Dropout3d(const Operand& x, double p = 0.5, bool training = true);
// Elements take the value that selu tends to below, and all are scaled and moved so that mean and variance
// stay.
Tensor AlphaDropout(const Operand& x, double p = 0.5, bool training = true);
Tensor FeatureAlphaDropout(const Operand& x, double p = 0.5, bool training = true);

}  // namespace hlod
