// Matches the dimensions of a reshape's operand with those of its result when some are dynamic, by XLA's rule
// for the sizes of the result.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/shape.h"

namespace hlod::hlo {

// A minimal range of consecutive dimensions of the operand, and one of the result, that hold the same
// elements.
struct ReshapeGroup {
  Dims input, output;
  // The dimension of the result whose size follows from the sizes of the group's inputs; nullopt when all of
  // them are static.
  std::optional<int64_t> dynamic_output;
};

// Returns the groups of a reshape between two shapes with equally many elements at the bounds. UNIMPLEMENTED,
// with the dimension, when it is ambiguous which dimension of the result takes the size of a dynamic one.
absl::StatusOr<std::vector<ReshapeGroup>> DynamicReshapeGroups(const Shape& from, const Shape& to);

}  // namespace hlod::hlo
