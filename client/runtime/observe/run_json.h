// The lines of a run file ($HLOD_RUN), written and read by one table of fields.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "hlod/observe/run.h"

namespace hlod::internal {

inline constexpr int kRunVersion = 1;

// Each returns a line with its newline.
std::string RunHeaderLine(const RunLog& run);
std::string RunEventLine(const Event& event);
std::string RunAccountLine(const RunAccount& account);
std::string RunEndLine(size_t events, size_t accounts);

}  // namespace hlod::internal
