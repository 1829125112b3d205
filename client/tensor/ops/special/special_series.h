// Chebyshev series of special functions (chebyshev.inc), and the Bessel family written with them: of f64
// operands.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

enum class Series {
#define HLOD_SERIES(name, ...) name,
#include "client/tensor/ops/special/chebyshev.inc"
#undef HLOD_SERIES
};
// The series at u, which is moved into its interval.
Op SeriesOps(Lowering& l, Series series, Op u);

Op ErfcxOps(Lowering& l, Op x);           // exp(x x) erfc(x)
Op ErfcOps(Lowering& l, Op x);            // Without loss where it is small.
Op NormalQuantileOps(Lowering& l, Op p);  // The inverse of the normal distribution.

// Modified Bessel functions of order 0 and 1, times exp(-|x|) (first kind) and exp(x) (second kind).
Op ScaledI(Lowering& l, Op x, int order);
Op UnscaledI(Lowering& l, Op x, int order);  // Without the factor.
Op ScaledK(Lowering& l, Op x, int order);
// Bessel functions of order 0 and 1 of the first and second kind, and Airy's function.
Op BesselJ(Lowering& l, Op x, int order);
Op BesselY(Lowering& l, Op x, int order);
Op AiryAi(Lowering& l, Op x);

}  // namespace hlod::lazy
