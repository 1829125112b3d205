// The copies of operands that matrix products need.
#pragma once

#include <memory>

#include "client/analysis/module/placement.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns a copy of the module in which the operands of each dot have an order of dimensions that matrix
// libraries accept: batch dimensions first, then the free and the contracted ones, in either order. XLA's CPU
// backend accepts one order alone beside a batch dimension of size 1: the contracted dimensions last in the
// left operand, and before the free ones in the right. An operand in another order is first transposed into a
// separate array, as in XLA's decomposition of dots. On a CPU a dot that contracts nothing is a
// multiplication.
std::unique_ptr<hlo::Module> WithDotCopies(const hlo::Module& module, Compiler compiler);

}  // namespace hlod::analysis
