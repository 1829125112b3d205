// Lowerings that functions and updates in place share.
#pragma once

#include "client/tensor/lowering.h"

namespace hlod::lazy {

// The opcode on x and y, broadcast to one shape.
Op Broadcasted(Lowering& l, hlo::Opcode opcode, Op x, Op y);
Op AddOps(Lowering& l, Op x, Op y);
Op SubOps(Lowering& l, Op x, Op y);
Op MulOps(Lowering& l, Op x, Op y);
Op DivOps(Lowering& l, Op x, Op y);

}  // namespace hlod::lazy
