// Parses the attributes of a typed call, {uplo = 76 : ui8, left = true}, in MLIR's form of a dictionary; and
// those of the TPU's Eigh, "1,1,100,1e-6".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hlod::lapack {

// Returns integers and booleans by name. INVALID_ARGUMENT for other values, and for text that is not a
// dictionary; empty text is an empty dictionary.
absl::StatusOr<std::map<std::string, int64_t, std::less<>>> ParseConfig(std::string_view text);

// Converts "lower,sorted,sweeps,tolerance" to syevd's attributes: the triangle, and that vectors are wanted.
// Eigenvalues are always sorted, and the other fields concern the TPU's method. INVALID_ARGUMENT unless the
// text begins with "0," or "1,".
absl::StatusOr<std::map<std::string, int64_t, std::less<>>> ParseEighConfig(std::string_view text);

}  // namespace hlod::lapack
