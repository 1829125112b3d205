// Text of TOML files, of a length that the parser takes: it calls itself for each key between dots.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace hlod {

inline constexpr size_t kTomlBytesMax = 32 << 10;

// The file's text; RESOURCE_EXHAUSTED when it is longer than kTomlBytesMax.
absl::StatusOr<std::string> ReadTomlText(const std::string& path);

}  // namespace hlod
