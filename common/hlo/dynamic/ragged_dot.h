// Interprets the dimension numbers of a ragged dot: the kind of dimension that is cut into groups, and the
// dimensions outside it.
#pragma once

#include <cstdint>

#include "common/hlo/attributes.h"

namespace hlod::hlo {

enum class RaggedMode : uint8_t {
  kFree,  // Each group of rows of lhs is multiplied by the rhs of its group; rows in no group become zeros.
  kContracting,  // One product per group, over its part of the sum; the results are stacked along a new first
                 // dimension.
  kBatch,        // Groups of whole products: the same as a dot.
};
// REQUIRES: one ragged dimension.
RaggedMode RaggedModeOf(const RaggedDotAttributes& ragged);

// Returns the dimensions of lhs that may have group sizes of their own, in the order of the sizes'
// dimensions: batch dimensions, then those of the ragged dimension's kind that precede it.
Dims RaggedPrefix(const RaggedDotAttributes& ragged, int64_t lhs_rank);

}  // namespace hlod::hlo
