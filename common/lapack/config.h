// The attributes of a typed call: {uplo = 76 : ui8, left = true}, as MLIR prints a dictionary. And those of
// the TPU's Eigh: "1,1,100,1e-6".
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

// "lower,sorted,sweeps,tolerance" as syevd's attributes: the triangle, and that vectors are wanted.
// Eigenvalues are sorted in any case, and the rest is about the TPU's method. INVALID_ARGUMENT unless "0," or
// "1," is first.
absl::StatusOr<std::map<std::string, int64_t, std::less<>>> ParseEighConfig(std::string_view text);

}  // namespace hlod::lapack
