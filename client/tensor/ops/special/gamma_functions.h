// Relatives of the gamma function that need loops or long sums: of f64 operands.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Hurwitz' zeta function, the sum of (q + k)^-x.
Op ZetaOps(Lowering& l, Op x, Op q);
// The second derivative of lgamma; `angle` is pi x, rounded as the caller's type rounds it.
Op TrigammaOps(Lowering& l, Op x, Op angle);
// The regularised incomplete gamma functions: of the lower and of the upper part.
Op IgammaOps(Lowering& l, Op a, Op x, bool upper);

}  // namespace hlod::lazy
