// Order: sorting, the largest elements, positions in sorted sequences. NaN is greater than any number.
#pragma once

#include <optional>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

// Equal elements keep their order.
ValuesAndIndices Sort(const Operand& x, int64_t dim = -1, bool descending = false);
Tensor Argsort(const Operand& x, int64_t dim = -1, bool descending = false);
Tensor Msort(const Operand& x);  // The values, along dimension 0.
ValuesAndIndices Topk(const Operand& x, int64_t k, int64_t dim = -1, bool largest = true);
// The k-th smallest, k counted from 1.
ValuesAndIndices Kthvalue(const Operand& x, int64_t k, int64_t dim = -1, bool keepdim = false);

// Returns the index at which each value would be inserted in a sorted sequence (a vector, or one for each row
// of values): before equal elements, or behind them when `right`. With a sorter, which Argsort() gives, the
// sequence itself need not be in order.
Tensor Searchsorted(const Operand& sorted, const Operand& values, bool right = false,
                    const Tensor& sorter = {});
// The bucket of each value between sorted boundaries.
Tensor Bucketize(const Operand& values, const Operand& boundaries, bool right = false);
// True where the element is one of `among`; with `invert`, where it is not.
Tensor Isin(const Operand& x, const Operand& among, bool invert = false);

struct UniqueResult {
  Tensor values;   // In ascending order.
  Tensor inverse;  // The position in `values` of every element of x.
  Tensor counts;   // The number of times that each value occurs.
};
// These close the trace: how many values there are is read. With a dimension, its slices are compared.
UniqueResult Unique(const Operand& x, std::optional<int64_t> dim = {});
// Without sorting: only neighbours are compared.
UniqueResult UniqueConsecutive(const Operand& x, std::optional<int64_t> dim = {});

struct BoundedUniqueResult {
  // `values` and `counts` have the size [limit] and end in zeros; `inverse` is as in UniqueResult.
  Tensor values, inverse, counts;
  Tensor count;                    // s64[]: how many values there are, also when they exceed the limit.
};
// Reads nothing: the shape is a limit. Also of placeholders.
BoundedUniqueResult UniqueBounded(const Operand& x, int64_t limit);

}  // namespace hlod
