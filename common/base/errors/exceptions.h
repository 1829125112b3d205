// Exceptions as errors. hlod throws none itself; those that it catches come from the standard library and
// from other libraries.
#pragma once

#include <exception>
#include <string_view>

#include "absl/status/status.h"

namespace hlod {

// Returns "WHAT: ...", as an error of kind no_memory for std::bad_alloc, and as an internal error for any
// other exception. Without memory even for that, it is RESOURCE_EXHAUSTED without a text.
absl::Status ExceptionError(std::string_view what, const std::exception& e) noexcept;

}  // namespace hlod
