// Lowerings of special functions. The operands are f64, except for the last two functions'.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

Op ErfinvOps(Lowering& l, Op x);
Op LgammaOps(Lowering& l, Op x);
Op DigammaOps(Lowering& l, Op x);
Op SincOps(Lowering& l, Op x);
Op AngleOps(Lowering& l, Op x);
// Returns the greatest finite number of a floating type.
Literal LargestLiteral(PrimitiveType type);

}  // namespace hlod::lazy
