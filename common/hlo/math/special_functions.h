// Special functions that HLO has no opcode for, as instructions: the formulas that XLA expands CHLO's
// functions into. Import, the tensor operations and the differentiation rules share them.
#pragma once

#include "common/hlo/builder.h"

namespace hlod::hlo {

// All functions except NextAfter take f32 or f64, and operands of equal dimensions.
Op BesselI1e(Op x);  // exp(-|x|) I1(x)
Op Digamma(Op x);
Op Erfc(Op x);
Op ErfInv(Op x);
Op Lgamma(Op x);
Op Polygamma(Op n, Op x);
Op Zeta(Op x, Op q);  // Hurwitz' zeta function, the sum of (q + k)^-x.
// Returns the number next to x in the direction of y, for floating-point types of 16, 32 or 64 bits.
Op NextAfter(Op x, Op y);

}  // namespace hlod::hlo
