// The calls that lead to a place of the program.
#pragma once

#include <cstdint>

namespace hlod::runtime {

// Returns a number that stands for the return addresses of this thread's calls. Equal in each iteration of a
// loop, and different where a function is called from two places. Takes some 10 microseconds.
uint64_t CallPath();

}  // namespace hlod::runtime
