// Lowerings of special functions: of f64 operands, but for the last two.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

Op ErfinvOps(Lowering& l, Op x);
Op LgammaOps(Lowering& l, Op x);
Op DigammaOps(Lowering& l, Op x);
Op SincOps(Lowering& l, Op x);
Op AngleOps(Lowering& l, Op x);
// The greatest finite number of a floating type.
Literal LargestLiteral(PrimitiveType type);

}  // namespace hlod::lazy
