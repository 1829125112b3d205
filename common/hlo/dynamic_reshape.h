// Which dimensions of a reshape make up which, where some are dynamic: XLA's rule for the sizes of its
// result.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/shape.h"

namespace hlod::hlo {

// Consecutive dimensions of the operand and of the result that hold the same elements, as few as can be.
struct ReshapeGroup {
  Dims input, output;
  // The one dimension of the result whose size follows from the sizes of the group's inputs; none when all
  // of them are static.
  std::optional<int64_t> dynamic_output;
};

// The groups of a reshape from one shape to another of equally many elements at the bounds. UNIMPLEMENTED,
// naming the dimension, when it is not clear which dimension of the result takes the size of a dynamic one.
absl::StatusOr<std::vector<ReshapeGroup>> DynamicReshapeGroups(const Shape& from, const Shape& to);

}  // namespace hlod::hlo
