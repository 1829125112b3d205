// Conversions between std::string_view and Debian's absl::string_view, which is a different class.
#pragma once

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace hlod {

// For arguments of Abseil functions: StrCat(ToAbsl(name), ...), SimpleAtoi(ToAbsl(text), &n).
inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

// For results of Abseil functions: FromAbsl(status.message()).
inline std::string_view FromAbsl(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace hlod
