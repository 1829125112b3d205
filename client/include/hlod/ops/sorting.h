// Sorting, largest elements, positions in sorted sequences. NaN counts as greater than any number.
#pragma once

#include <optional>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

// Equal elements keep their order.
ValuesAndIndices Sort(const Operand& x, int64_t dim = -1, bool descending = false);
Tensor Argsort(const Operand& x, int64_t dim = -1, bool descending = false);  // The indices of Sort() alone.
Tensor Msort(const Operand& x);  // The sorted values along dimension 0.
// The k largest (or smallest) elements along a dimension, in order, with their indices.
ValuesAndIndices Topk(const Operand& x, int64_t k, int64_t dim = -1, bool largest = true);
// The k-th smallest element, with k counted from 1.
ValuesAndIndices Kthvalue(const Operand& x, int64_t k, int64_t dim = -1, bool keepdim = false);

// Returns the index at which each value would be inserted in a sorted sequence (a vector, or one per row of
// values): before equal elements, or after them when `right`. With `sorter`, a result of Argsort(), the
// sequence itself need not be sorted.
Tensor Searchsorted(const Operand& sorted, const Operand& values, bool right = false,
                    const Tensor& sorter = {});
// The index of the bucket of each value between sorted boundaries.
Tensor Bucketize(const Operand& values, const Operand& boundaries, bool right = false);
// True where the element is in `among`; with `invert`, where it is not.
Tensor Isin(const Operand& x, const Operand& among, bool invert = false);

struct UniqueResult {
  Tensor values;   // The distinct values, in ascending order.
  Tensor inverse;  // The position in `values` of every element of x.
  Tensor counts;   // The number of times that each value occurs.
};
// The distinct values. Closes the trace, because their number is read. With a dimension, slices are compared.
UniqueResult Unique(const Operand& x, std::optional<int64_t> dim = {});
// Like Unique without sorting: only equal neighbours are merged.
UniqueResult UniqueConsecutive(const Operand& x, std::optional<int64_t> dim = {});

struct BoundedUniqueResult {
  // `values` and `counts` have the size [limit] and end in zeros; `inverse` is as in UniqueResult.
  Tensor values, inverse, counts;
  Tensor count;  // s64[]: the number of distinct values, also when it exceeds the limit.
};
// Unique with at most `limit` values: reads nothing, and accepts placeholders.
BoundedUniqueResult UniqueBounded(const Operand& x, int64_t limit);

}  // namespace hlod
