// The lowering of sorts.
#pragma once

#include <vector>

#include "client/tensor/lowering.h"

namespace hlod::lazy {

// The operands in the stable order of the first along a dimension. NaN is greater than any number.
std::vector<Op> SortOps(Lowering& l, absl::Span<const Op> operands, int64_t dim, bool descending);

}  // namespace hlod::lazy
