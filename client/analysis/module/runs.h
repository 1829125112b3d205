// How often the computations of a module run, once per run of the entry.
#pragma once

#include <cstddef>
#include <vector>

#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns how often an instruction runs called()[index] when it runs once: the trip count of a loop, or 1
// when that is not known. Returns 0 for a computation that the instruction applies to elements, as a
// reduction does.
double RunsOf(const hlo::Module& module, hlo::Instruction instruction, size_t index);

// Returns the number of runs by computation id, up to `root`, which runs once. Each branch of a conditional
// counts as if it were taken.
std::vector<double> RunsOfAll(const hlo::Module& module, hlo::ComputationId root);

}  // namespace hlod::analysis
