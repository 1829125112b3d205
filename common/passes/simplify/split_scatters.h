// A pass that the pipeline alone runs: scatters of one small window in loops.
#pragma once

#include <memory>

#include "common/passes/passes.h"

namespace hlod::passes {

// Replaces scatters of one small contiguous window, in loops, by a slice of the operand, the combination of
// its elements with the updates, and an update of the operand. Left out are scatters that only assign, which
// loops' machine code does itself.
std::unique_ptr<hlo::Module> SplitScatters(const hlo::Module& module, PassWatch* watch = nullptr);

}  // namespace hlod::passes
