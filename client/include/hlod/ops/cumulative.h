// Cumulative results along a dimension; differences, derivatives and integrals over neighbours.
#pragma once

#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

Tensor Cumsum(const Operand& x, int64_t dim);            // The type is s64 for pred and integers.
Tensor Cumprod(const Operand& x, int64_t dim);           // The type is s64 for pred and integers.
ValuesAndIndices Cummax(const Operand& x, int64_t dim);  // The greatest element so far, and its last index.
ValuesAndIndices Cummin(const Operand& x, int64_t dim);
Tensor Logcumsumexp(const Operand& x, int64_t dim);  // The logarithm of the running sum of exponentials.

// The n-th differences of neighbours; for bools, true where neighbours differ. `prepend` and `append` are
// first joined to x.
Tensor Diff(const Operand& x, int64_t n = 1, int64_t dim = -1, const Tensor& prepend = {},
            const Tensor& append = {});

// The integral of values at points: `dx` apart, or at `x` (a vector, or a tensor that broadcasts to y).
Tensor Trapezoid(const Operand& y, double dx = 1, int64_t dim = -1);
Tensor Trapezoid(const Operand& y, const Tensor& x, int64_t dim = -1);
// The integral up to each point but the first.
Tensor CumulativeTrapezoid(const Operand& y, double dx = 1, int64_t dim = -1);
Tensor CumulativeTrapezoid(const Operand& y, const Tensor& x, int64_t dim = -1);

struct GradientOptions {
  // The distance between points, one for all dimensions or one per dimension.
  std::vector<double> spacing = {};
  std::vector<Tensor> coordinates = {};
  Dims dims = {};          // The dimensions; empty: all.
  int64_t edge_order = 1;  // The order of accuracy at the ends, 1 or 2.
};
// torch.gradient: the derivative along each dimension, estimated from neighbours.
std::vector<Tensor> Gradient(const Operand& x, const GradientOptions& options = {});

}  // namespace hlod
