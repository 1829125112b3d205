// Steps that LAPACK computes.
#pragma once

#include "server/engine/run/step.h"

namespace hlod::engine {

// For a custom-call whose target is a LAPACK routine, for cholesky and for triangular-solve; null where
// LAPACK is missing or does not take the types.
MaybeStep MakeLinalgStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
