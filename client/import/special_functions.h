// Functions that CHLO has and HLO has not, as instructions: the formulas that XLA expands them into.
#pragma once

#include "common/hlo/builder.h"

namespace hlod::stablehlo {

// Of operands of f32 or f64, and of equal dimensions.
hlo::Op BesselI1e(hlo::Op x);
hlo::Op Digamma(hlo::Op x);
hlo::Op Erfc(hlo::Op x);
hlo::Op ErfInv(hlo::Op x);
hlo::Op Lgamma(hlo::Op x);
hlo::Op Polygamma(hlo::Op n, hlo::Op x);
hlo::Op Zeta(hlo::Op x, hlo::Op q);
// Of any type of 16, 32 or 64 bits.
hlo::Op NextAfter(hlo::Op x, hlo::Op y);

}  // namespace hlod::stablehlo
