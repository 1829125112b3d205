// What the dimension numbers of a ragged dot say: which kind of dimension is cut into groups, and which lie
// outside it.
#pragma once

#include <cstdint>

#include "common/hlo/attributes.h"

namespace hlod::hlo {

enum class RaggedMode : uint8_t {
  kFree,  // Rows of lhs: each group is multiplied by the rhs of its group; rows in no group give zeros.
  kContracting,  // A product for each group, over its part of the sum; the results stand first.
  kBatch,        // Groups of whole products: the same as a dot.
};
// REQUIRES: one ragged dimension.
RaggedMode RaggedModeOf(const RaggedDotAttributes& ragged);

// The dimensions of lhs that may have group sizes of their own, in the order of the sizes' dimensions: batch
// dimensions, then those of the ragged one's kind that stand before it.
Dims RaggedPrefix(const RaggedDotAttributes& ragged, int64_t lhs_rank);

}  // namespace hlod::hlo
