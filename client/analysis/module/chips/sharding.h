// The number of parts into which a sharding divides an array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/hlo/shape.h"

namespace hlod::analysis {

// Returns, for each leaf of a value with this serialized OpSharding, the number of tiles with different
// contents: 1 for a leaf that is replicated, on one device, or without a sharding. A sharding that is not a
// tuple applies to every leaf.
std::vector<int64_t> PartsOf(std::string_view sharding, size_t leaves);

// Returns, for each leaf of the shape, the number of tiles along each of its dimensions.
std::vector<hlo::Dims> TilesOf(std::string_view sharding, const hlo::Shape& shape);

}  // namespace hlod::analysis
