// Order: sorting, the largest elements, positions in sorted sequences. NaN is greater than any number.
#pragma once

#include <vector>

#include "hlod/tensor.h"

namespace hlod {

// Equal elements keep their order.
ValuesAndIndices Sort(const Operand& x, int64_t dim = -1, bool descending = false);
Tensor Argsort(const Operand& x, int64_t dim = -1, bool descending = false);
Tensor Msort(const Operand& x);  // The values, along dimension 0.
ValuesAndIndices Topk(const Operand& x, int64_t k, int64_t dim = -1, bool largest = true);
// The k-th smallest, k counted from 1.
ValuesAndIndices Kthvalue(const Operand& x, int64_t k, int64_t dim = -1, bool keepdim = false);

// Where each value would be inserted in a sorted sequence (a vector, or one for each row of values): before
// equal elements, or behind them when `right`.
Tensor Searchsorted(const Operand& sorted, const Operand& values, bool right = false);
// The bucket of each value between sorted boundaries.
Tensor Bucketize(const Operand& values, const Operand& boundaries, bool right = false);

struct UniqueResult {
  Tensor values;   // In ascending order.
  Tensor inverse;  // The position in `values` of every element of x.
  Tensor counts;   // How often each value is there.
};
// Closes the trace: how many values there are is read.
UniqueResult Unique(const Operand& x);

}  // namespace hlod
