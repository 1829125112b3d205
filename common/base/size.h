// Sizes in bytes as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hlod {

// "16GiB", "512MiB", "1MB", "4096": bytes. INVALID_ARGUMENT otherwise.
absl::StatusOr<int64_t> ParseSize(std::string_view text);
// The largest unit that divides it: "16GiB".
std::string FormatSize(int64_t bytes);

}  // namespace hlod
