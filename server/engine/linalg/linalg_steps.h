// Steps computed by LAPACK.
#pragma once

#include "server/engine/run/step.h"

namespace hlod::engine {

// Returns a step for a custom-call whose target is a LAPACK routine, for cholesky and for triangular-solve.
// Returns null if LAPACK is missing or does not support the types.
MaybeStep MakeLinalgStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
