// Replaces Philox generators by arithmetic on each number's position.
#pragma once

#include <memory>

#include "common/hlo/module.h"

namespace hlod::passes {

// Returns true when the module has a generator that ExpandPhilox() replaces: one of integers of fixed size,
// from a state of u64[2] or u64[3].
bool HasPhilox(const hlo::Module& module);

// Makes every number of such a generator a function of its position and the state, with the same bits. A
// partitioner divides that as other arithmetic, and a generator not at all. A block of numbers is computed
// once per number of it: up to four times the work.
std::unique_ptr<hlo::Module> ExpandPhilox(const hlo::Module& module);

}  // namespace hlod::passes
