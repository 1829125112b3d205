// Finds the results of a program that take large arrays to compute.
#pragma once

#include <cstdint>
#include <vector>

#include "common/hlo/module.h"

namespace hlod::runtime {

// Returns, per result leaf, true when the leaf, or a value that it depends on (other than arguments), has
// more than `bytes_max` bytes. When an exact answer would take too long, every result of a call or loop that
// makes large arrays counts as large.
std::vector<bool> LargeResults(const hlo::Module& module, int64_t bytes_max);

}  // namespace hlod::runtime
