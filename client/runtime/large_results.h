// Which results of a program take large arrays to compute.
#pragma once

#include <cstdint>
#include <vector>

#include "common/hlo/module.h"

namespace hlod::internal {

// By result leaf: whether it, or something that it is computed from other than arguments, has more than
// `bytes_max` bytes. Where finding that out would take too long, large results and what is made by the same
// call or loop as they are count as such.
std::vector<bool> LargeResults(const hlo::Module& module, int64_t bytes_max);

}  // namespace hlod::internal
