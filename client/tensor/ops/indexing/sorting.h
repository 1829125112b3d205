// The lowerings of sorts and of searches in what is sorted.
#pragma once

#include <vector>

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// The operands in the stable order of the first along a dimension. NaN is greater than any number.
std::vector<Op> SortOps(Lowering& l, absl::Span<const Op> operands, int64_t dim, bool descending);
// x and its s64 positions, in x's order along a dimension.
std::vector<Op> SortedWithIndex(Lowering& l, Op x, int64_t dim, bool descending);
// The first k of them. Which of equal elements come first is not said.
std::vector<Op> FirstWithIndex(Lowering& l, Op x, int64_t k, int64_t dim, bool descending);

// How many elements of the last dimension of `sorted` come before each value: those that are less, or also
// those that are equal when `right`. One sequence for all values, or one for each row of them. NaN is greater
// than any number.
Op SearchOps(Lowering& l, Op sorted, Op values, bool right);

}  // namespace hlod::lazy
