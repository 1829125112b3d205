// How many parts an array is divided into.
#pragma once

#include <cstdint>
#include <string_view>

namespace hlod::analysis {

// Of a serialized OpSharding: the number of tiles with different contents; 1 for what is replicated, on one
// device, or not said.
int64_t PartsOf(std::string_view sharding);

}  // namespace hlod::analysis
