// Unrequested warnings on stderr, about paths more than ten times slower than the normal one.
#pragma once

#include <string>

namespace hlod::runtime {

// Writes "hlod: TEXT" to stderr, once in the process for equal texts, and at most kWarningsMax times in all.
// Does nothing with HLOD_WARNINGS=0.
inline constexpr int kWarningsMax = 32;
void Warn(const std::string& text);

}  // namespace hlod::runtime
