// A pass that the pipeline alone runs: reductions of a few elements in loops, and of very short rows
// anywhere.
#pragma once

#include <memory>

#include "common/passes/passes.h"

namespace hlod::passes {

// Replaces reductions of a few elements in loops, and of rows of two to four elements, by elementwise
// operations on slices, in the order of the elements. HasReductionsToUnroll() returns true when there may be
// some. Left out are narrow floats, whose sums are wider, and several results of an array that is not
// computed slice by slice.
bool HasReductionsToUnroll(const hlo::Module& module);
std::unique_ptr<hlo::Module> UnrollReductions(const hlo::Module& module, PassWatch* watch = nullptr);

}  // namespace hlod::passes
