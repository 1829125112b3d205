// Norms, and distances as norms of differences. `p` is the norm's order: any number, 0 and infinite ones too.
#pragma once

#include <optional>

#include "hlod/tensor/tensor.h"

namespace hlod {

// torch.norm: of all elements over dimensions, also those of a matrix as one vector ("fro" is p = 2).
Tensor Norm(const Operand& x, double p = 2, DimList dims = {}, bool keepdim = false,
            std::optional<PrimitiveType> type = {});
Tensor Dist(const Operand& x, const Operand& y, double p = 2);  // The norm of x - y.
// The distance of each row of x to each row of y: [..., n, k] and [..., m, k] give [..., n, m]. The Euclidean
// one of more than 25 rows comes from a matrix product, as in PyTorch.
Tensor Cdist(const Operand& x, const Operand& y, double p = 2);
// The slices of dimension `dim` whose norm exceeds `maxnorm`, scaled down to it.
Tensor Renorm(const Operand& x, double p, int64_t dim, double maxnorm);

}  // namespace hlod
