// Products of matrices.
#pragma once

#include "hlod/tensor.h"

namespace hlod {

// torch.matmul: vectors, matrices, and batches of them by broadcasting.
Tensor MatMul(const Operand& x, const Operand& y);

}  // namespace hlod
