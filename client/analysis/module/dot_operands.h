// The copies of operands that matrix products need.
#pragma once

#include <memory>

#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns a copy of the module in which the operands of each dot have an order of dimensions that matrix
// libraries accept: batch dimensions first, then the free and the contracted ones, in either order. An
// operand in another order is first transposed into a separate array, as in XLA's decomposition of dots.
std::unique_ptr<hlo::Module> WithDotCopies(const hlo::Module& module);

}  // namespace hlod::analysis
