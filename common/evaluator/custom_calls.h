// Custom-call targets that have a meaning everywhere: hlod's own.
#pragma once

#include <string_view>

namespace hlod {

// Whether the evaluator has a rule for the target (for some operands).
bool IsOwnCustomCallTarget(std::string_view target);

}  // namespace hlod
