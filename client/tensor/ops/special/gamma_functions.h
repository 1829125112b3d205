// Relatives of the gamma function that need loops or long sums. The operands are f64.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Returns Hurwitz' zeta function, the sum of (q + k)^-x over k >= 0.
Op ZetaOps(Lowering& l, Op x, Op q);
// Returns the second derivative of lgamma. `angle` is pi x, rounded in the caller's type.
Op TrigammaOps(Lowering& l, Op x, Op angle);
// Returns the regularised incomplete gamma function: the upper one when `upper`, else the lower.
Op IgammaOps(Lowering& l, Op a, Op x, bool upper);
// Returns the derivative of log(x) by a, where x is the gamma variate of concentration a at which the
// distribution function has a fixed value. It has no derivative itself.
Op GammaVariateSlopeOps(Lowering& l, Op a, Op log_x);

}  // namespace hlod::lazy
