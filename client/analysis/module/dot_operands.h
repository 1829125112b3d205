// The copies that products of matrices make of their operands.
#pragma once

#include <memory>

#include "common/hlo/module.h"

namespace hlod::analysis {

// A module in which each operand of a dot lies as libraries of products take it: batch dimensions first, then
// the free and the contracted ones, either of them last. What lies otherwise is transposed first, as XLA's
// decomposition of dots does it: an array of its own in memory.
std::unique_ptr<hlo::Module> WithDotCopies(const hlo::Module& module);

}  // namespace hlod::analysis
