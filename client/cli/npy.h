// NumPy's .npy files. Element types that NumPy has no name for travel as raw bits: bf16 as uint16 (or void of
// 2 bytes, as JAX saves it), f8 types as uint8; sub-byte integers as int8 and uint8.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/hlo/literal.h"

namespace hlod::cli {

// The value in a file as a literal of `shape`. INVALID_ARGUMENT naming the file when its dtype or shape is
// another.
absl::StatusOr<hlo::Literal> ReadNpy(const std::string& path, const hlo::Shape& shape);
// The value in the bytes of such a file; `name` is for messages.
absl::StatusOr<hlo::Literal> ParseNpy(std::string_view bytes, const hlo::Shape& shape, std::string_view name);

absl::Status WriteNpy(const std::string& path, const hlo::Literal& literal);
std::string FormatNpy(const hlo::Literal& literal);

// The dtype that a literal of `type` is written with: "<f4", "|b1".
std::string_view NpyDtype(hlo::PrimitiveType type);

}  // namespace hlod::cli
