// The values that a compiler for accelerators does not write to memory, for peaks and traffic.
#pragma once

#include <vector>

#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns, for each instruction of a computation, true when it is computed inside its users: it is
// elementwise or moves elements, each of its users can compute it, and it is cheap or has one user.
std::vector<bool> FusedAway(const hlo::Computation& computation);

}  // namespace hlod::analysis
