// Counts of how often the computations of a module run.
#pragma once

#include <cstddef>
#include <vector>

#include "common/hlo/module.h"

namespace hlod::hlo {

// Returns how often an instruction runs called()[index] each time that it runs: a loop of unknown trip count
// once. 0 for a computation that it applies to elements.
double TimesOf(const Module& module, Instruction i, size_t index);

// Returns how often each computation runs when `root` runs once, by id up to `root`'s.
std::vector<double> RunsOf(const Module& module, ComputationId root);

}  // namespace hlod::hlo
