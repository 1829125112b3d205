// Sizes in bytes as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hlod {

// Parses "16GiB", "512MiB", "1MB" or "4096" to bytes. INVALID_ARGUMENT otherwise.
absl::StatusOr<int64_t> ParseSize(std::string_view text);
// Formats with the largest unit that divides the size: "16GiB".
std::string FormatSize(int64_t bytes);

}  // namespace hlod
