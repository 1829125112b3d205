// How many parts an array is divided into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/hlo/shape.h"

namespace hlod::analysis {

// Of a serialized OpSharding on a value of so many leaves: for each leaf the number of tiles with different
// contents; 1 for what is replicated, on one device, or not said. A sharding that is not a tuple holds for
// every leaf.
std::vector<int64_t> PartsOf(std::string_view sharding, size_t leaves);

// The same by dimension: for each leaf of the shape the tiles along each of its dimensions.
std::vector<hlo::Dims> TilesOf(std::string_view sharding, const hlo::Shape& shape);

}  // namespace hlod::analysis
