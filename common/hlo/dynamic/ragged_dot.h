// Interprets the dimension numbers of a ragged dot: the kind of the dimension that is divided into groups,
// and the dimensions outside it.
#pragma once

#include <cstdint>

#include "common/hlo/attributes.h"

namespace hlod::hlo {

enum class RaggedMode : uint8_t {
  // Each group of rows of lhs is multiplied by the rhs of its group; rows outside all groups become zeros.
  kFree,
  kContracting,  // One product per group, over its part of the sum; the results are stacked along a new first
                 // dimension.
  kBatch,        // Groups of whole products; the result is that of a dot.
};
// REQUIRES: there is one ragged dimension.
RaggedMode RaggedModeOf(const RaggedDotAttributes& ragged);

// Returns the dimensions of lhs that may have their own group sizes, in the order of the dimensions of the
// sizes: batch dimensions, then dimensions of the ragged dimension's kind that precede it.
Dims RaggedPrefix(const RaggedDotAttributes& ragged, int64_t lhs_rank);

}  // namespace hlod::hlo
