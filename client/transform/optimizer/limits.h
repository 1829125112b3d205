// Limits on the settings of optimizers and schedulers.
#pragma once

#include <string>

#include "hlod/runtime/caller.h"

namespace hlod {

enum class Limit {
  kNone,
  kNotNegative,  // >= 0
  kPositive,     // > 0
  kBelowOne,     // [0, 1)
  kUpToOne,      // [0, 1]
  kInsideOne,    // (0, 1)
  kAboveOne,     // > 1
};

// Throws Error (kind argument) unless `value` is within the limit: "beta1 is 1.5, and must be at least 0 and
// below 1". NaN is within kNone only.
void RequireWithin(Limit limit, const char* name, double value, const char* operation, const Caller& caller);

// Throws Error (kind argument) with `text` unless `holds`.
void RequireThat(bool holds, const std::string& text, const char* operation, const Caller& caller);

}  // namespace hlod
