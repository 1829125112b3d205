// Elementwise lowerings whose derivatives stay finite where those of their formulas do not.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Returns x log(y), or x log(1 + y), and 0 where x is 0.
Op XLogOps(Lowering& l, Op x, Op y, hlo::Opcode log);
// Returns the square root; its derivative at 0 is 0.
Op RootOps(Lowering& l, Op x);

}  // namespace hlod::lazy
