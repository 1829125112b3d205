// Reads TOML files up to a length that is safe for the parser, which recurses for each part of a dotted key.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace hlod {

inline constexpr size_t kTomlBytesMax = 32 << 10;

// Returns the file's text. RESOURCE_EXHAUSTED when it is longer than kTomlBytesMax.
absl::StatusOr<std::string> ReadTomlText(const std::string& path);

}  // namespace hlod
