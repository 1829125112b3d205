// Lowerings of orthogonal polynomials.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

enum class Chebyshev { kT, kU, kV, kW };

// Returns Chebyshev's polynomial of degree n at x. Both are f64 of one shape, and n is an integer of at least -1.
Op ChebyshevOps(Lowering& l, Op x, Op n, Chebyshev kind);

}  // namespace hlod::lazy
