// Limits on the settings of optimizers, schedulers and layers.
#pragma once

#include <string>

#include "hlod/runtime/caller.h"
#include "hlod/tensor/limit.h"

namespace hlod {

// Returns "x is 1.5, and must be at least 0 and below 1"; empty when `value` is within the limit.
std::string FaultOf(Limit limit, const char* name, double value);
// Throws Error (kind argument) unless `value` is within the limit: "beta1 is 1.5, and must be at least 0 and
// below 1". NaN is within kNone only.
void RequireWithin(Limit limit, const char* name, double value, const char* operation, const Caller& caller);

// Throws Error (kind argument) with `text` unless `holds`.
void RequireThat(bool holds, const std::string& text, const char* operation, const Caller& caller);

}  // namespace hlod
