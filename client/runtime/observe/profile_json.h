// The lines of a profile ($HLOD_PROFILE), written and read by one table of fields.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "hlod/observe/profile.h"

namespace hlod::runtime {

inline constexpr int kRunVersion = 1;

// Each of these functions returns a line with its newline.
std::string RunHeaderLine(const Profile& run);
std::string RunEventLine(const Event& event);
std::string RunAccountLine(const ProfileAccount& account);
std::string RunEndLine(size_t events, size_t accounts);

}  // namespace hlod::runtime
