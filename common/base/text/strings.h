// Bridges std::string_view and Debian's Abseil, whose absl::string_view is a class of its own.
#pragma once

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace hlod {

// For Abseil functions that take absl::string_view: StrCat(ToAbsl(name), ...), SimpleAtoi(ToAbsl(text), &n).
inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

// For what Abseil returns: FromAbsl(status.message()).
inline std::string_view FromAbsl(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace hlod
