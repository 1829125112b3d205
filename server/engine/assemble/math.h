// The functions of tile/math.h as machine code, operation by operation, so that their results have the same
// bits.
#pragma once

#include "server/engine/assemble/lanes.h"

namespace hlod::engine::assemble {

Num Abs(const Num& x);
Num Negate(const Num& x);
Num CopySign(const Num& magnitude, const Num& sign);
// The minimum and maximum as XLA defines them: NaN if an operand is, and -0 below +0.
Num Minimum(const Num& a, const Num& b);
Num Maximum(const Num& a, const Num& b);

// For both widths.
Num Exp(const Num& x);
Num Expm1(const Num& x);
Num Tanh(const Num& x);
Num Logistic(const Num& x);
Num Log(const Num& x);
Num Log1p(const Num& x);
// For f32 only.
Num Erf(const Num& x);

// Rounds f32 to the values of bf16.
Num RoundToBf16(const Num& x);

// Convert between 32-bit integers and f32. The conversions to integers truncate and saturate; NaN becomes 0.
Num FloatOfInteger(const Num& x, bool is_signed);
Num IntegerOfFloat(const Num& x, bool is_signed);

}  // namespace hlod::engine::assemble
