// Lowerings of sorts and of searches in sorted sequences.
#pragma once

#include <vector>

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Returns the operands in the stable order of the first operand along `dim`. NaN is greater than any number.
std::vector<Op> SortOps(Lowering& l, absl::Span<const Op> operands, int64_t dim, bool descending);
// Returns x and the s64 positions of its elements, sorted by x along `dim`.
std::vector<Op> SortedWithIndex(Lowering& l, Op x, int64_t dim, bool descending);
// Returns the first k of SortedWithIndex(). The order of equal elements is unspecified.
std::vector<Op> FirstWithIndex(Lowering& l, Op x, int64_t k, int64_t dim, bool descending);

// Returns the number of elements along the last dimension of `sorted` that come before each value: those that
// are less or, when `right`, less or equal. `sorted` is one sequence for all values, or one per row of them.
// NaN is greater than any number.
Op SearchOps(Lowering& l, Op sorted, Op values, bool right);

}  // namespace hlod::lazy
