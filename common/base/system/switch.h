// Variables of the environment that turn something on or off.
#pragma once

#include <cstdlib>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/errors/status.h"

namespace hlod {

// Returns true for 1, false for 0, and `standard` when the variable is not set or empty. INVALID_ARGUMENT
// names the variable and its value.
inline absl::StatusOr<bool> ReadSwitch(const char* variable, bool standard) {
  const char* const value = std::getenv(variable);
  const std::string_view text = value == nullptr ? "" : value;
  if (text.empty()) return standard;
  if (text == "0" || text == "1") return text == "1";
  return InvalidArgument("$%s is \"%s\"; it is 0 (off) or 1 (on).", variable, text);
}

}  // namespace hlod
