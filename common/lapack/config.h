// The attributes of a typed call: {uplo = 76 : ui8, left = true}, as MLIR prints a dictionary.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hlod::lapack {

// Whole numbers and booleans by name. INVALID_ARGUMENT for what is neither, or no dictionary; an empty text
// is an empty one.
absl::StatusOr<std::map<std::string, int64_t, std::less<>>> ParseConfig(std::string_view text);

}  // namespace hlod::lapack
