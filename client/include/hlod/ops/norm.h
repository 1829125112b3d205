// Norms, and distances as norms of differences. `p` is the order of the norm: any number, including 0 and
// infinity.
#pragma once

#include <optional>

#include "hlod/tensor/tensor.h"

namespace hlod {

// torch.norm over dimensions, or all elements. A matrix counts as one vector ("fro" is p = 2).
Tensor Norm(const Operand& x, double p = 2, DimList dims = {}, bool keepdim = false,
            std::optional<PrimitiveType> type = {});
Tensor Dist(const Operand& x, const Operand& y, double p = 2);  // The norm of x - y.
// The distance of each row of x to each row of y: [..., n, k] and [..., m, k] become [..., n, m]. Euclidean
// distances of more than 25 rows use a matrix product, as in PyTorch.
Tensor Cdist(const Operand& x, const Operand& y, double p = 2);
// Scales the slices along `dim` whose norm exceeds `maxnorm` down to that norm.
Tensor Renorm(const Operand& x, double p, int64_t dim, double maxnorm);

}  // namespace hlod
