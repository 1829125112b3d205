// Distances between vectors, and vectors of unit length.
#pragma once

#include "hlod/tensor/tensor.h"

namespace hlod {

// The norm of x - y + eps along the last dimension.
Tensor PairwiseDistance(const Operand& x, const Operand& y, double p = 2, double eps = 1e-6,
                        bool keepdim = false);
// The distances between all pairs of rows of a matrix: of row 0 to rows 1, 2, ..., then of row 1 to rows 2,
// 3, ...
Tensor Pdist(const Operand& x, double p = 2);
// x divided by its norm along `dim`, or by eps where the norm is less.
Tensor Normalize(const Operand& x, double p = 2, int64_t dim = 1, double eps = 1e-12);
// sum over i and j of x1[..., i] weight[k, i, j] x2[..., j], plus bias[k].
Tensor Bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias = {},
                Caller caller = Caller::Here());

}  // namespace hlod
