// Chebyshev series of special functions (chebyshev.inc), and the functions written with them: erfc, the
// normal quantile, the Bessel family. The operands are f64.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

enum class Series {
#define HLOD_SERIES(name, ...) name,
#include "client/tensor/ops/special/chebyshev.inc"
#undef HLOD_SERIES
};
// Returns the series at u, which is clamped to the series' interval.
Op SeriesOps(Lowering& l, Series series, Op u);

Op ErfcxOps(Lowering& l, Op x);           // exp(x x) erfc(x)
Op ErfcOps(Lowering& l, Op x);            // Avoids cancellation where the result is small.
Op NormalQuantileOps(Lowering& l, Op p);  // The inverse of the normal distribution function.

// Modified Bessel functions of order 0 and 1, multiplied by exp(-|x|) (first kind) or exp(x) (second kind).
Op ScaledI(Lowering& l, Op x, int order);
Op UnscaledI(Lowering& l, Op x, int order);  // The same functions without that factor.
Op ScaledK(Lowering& l, Op x, int order);
// Bessel functions of order 0 and 1 of the first and second kind, and Airy's function.
Op BesselJ(Lowering& l, Op x, int order);
Op BesselY(Lowering& l, Op x, int order);
Op AiryAi(Lowering& l, Op x);

}  // namespace hlod::lazy
