// Dropout. Outside training each function returns x itself.
#pragma once

#include "hlod/tensor/tensor.h"

namespace hlod {

// Elements are 0 with probability p, and the others grow by 1 / (1 - p).
Tensor Dropout(const Operand& x, double p = 0.5, bool training = true);
// Dropout of whole channels (the first two dimensions).
Tensor FeatureDropout(const Operand& x, double p = 0.5, bool training = true);
// Dropout of whole channels, where the batch dimension may be missing (not in Dropout2d, as in PyTorch).
Tensor Dropout1d(const Operand& x, double p = 0.5, bool training = true);
Tensor Dropout2d(const Operand& x, double p = 0.5, bool training = true);
Tensor Dropout3d(const Operand& x, double p = 0.5, bool training = true);
// Dropped elements become the lower limit of selu; then all are scaled and shifted so that mean and variance
// stay.
Tensor AlphaDropout(const Operand& x, double p = 0.5, bool training = true);
Tensor FeatureAlphaDropout(const Operand& x, double p = 0.5, bool training = true);

}  // namespace hlod
