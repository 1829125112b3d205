// A pass that the pipeline alone runs: reductions of a few elements in loops.
#pragma once

#include <memory>

#include "common/passes/passes.h"

namespace hlod::passes {

// Replaces reductions of a few elements in loops by elementwise operations on slices, in the order of the
// elements. Narrow floats are left out, whose sums are wider.
std::unique_ptr<hlo::Module> UnrollReductions(const hlo::Module& module, PassWatch* watch = nullptr);

}  // namespace hlod::passes
