// Mathematical functions of each element. Integers and bools become f32 where the result may be a fraction.
#pragma once

#include <optional>
#include <utility>

#include "hlod/ops/elementwise.h"

namespace hlod {

Tensor Abs(const Operand& x);         // Absolute value; of a complex number its modulus.
Tensor Sign(const Operand& x);        // -1, 0 or 1.
Tensor Ceil(const Operand& x);        // Rounds up to an integer.
Tensor Floor(const Operand& x);       // Rounds down to an integer.
Tensor Trunc(const Operand& x);       // Rounds towards zero to an integer.
Tensor Frac(const Operand& x);        // x - trunc(x).
Tensor Sqrt(const Operand& x);        // Square root.
Tensor Rsqrt(const Operand& x);       // 1 / sqrt(x).
Tensor Exp2(const Operand& x);        // 2 to the power of x.
Tensor Expm1(const Operand& x);       // e to the power of x, minus 1.
Tensor Log(const Operand& x);         // Natural logarithm.
Tensor Log2(const Operand& x);        // Logarithm to base 2.
Tensor Log10(const Operand& x);       // Logarithm to base 10.
Tensor Log1p(const Operand& x);       // log(1 + x).
Tensor Cos(const Operand& x);         // Cosine.
Tensor Tan(const Operand& x);         // Tangent.
Tensor Asin(const Operand& x);        // Inverse sine.
Tensor Acos(const Operand& x);        // Inverse cosine.
Tensor Atan(const Operand& x);        // Inverse tangent.
Tensor Sinh(const Operand& x);        // Hyperbolic sine.
Tensor Cosh(const Operand& x);        // Hyperbolic cosine.
Tensor Asinh(const Operand& x);       // Inverse hyperbolic sine.
Tensor Acosh(const Operand& x);       // Inverse hyperbolic cosine.
Tensor Atanh(const Operand& x);       // Inverse hyperbolic tangent.
Tensor Sigmoid(const Operand& x);     // 1 / (1 + exp(-x)).
Tensor Erf(const Operand& x);         // The error function.
Tensor Erfc(const Operand& x);        // 1 - erf(x).
Tensor Erfinv(const Operand& x);      // The inverse of erf.
Tensor Lgamma(const Operand& x);      // Log of the absolute value of the gamma function.
Tensor Digamma(const Operand& x);     // The derivative of lgamma.
Tensor Reciprocal(const Operand& x);  // 1 / x.
Tensor Square(const Operand& x);      // x squared.
Tensor Sinc(const Operand& x);        // sin(pi x) / (pi x), and 1 at 0.
Tensor Deg2rad(const Operand& x);     // Degrees to radians.
Tensor Rad2deg(const Operand& x);     // Radians to degrees.
Tensor Sgn(const Operand& x);         // Sign; of a complex number x / |x|.
Tensor Real(const Operand& x);        // The real part.
Tensor Imag(const Operand& x);        // The imaginary part of a complex tensor.
Tensor Conj(const Operand& x);        // The complex conjugate.
// The argument of a complex number. For a real number: pi if it is negative, else 0.
Tensor Angle(const Operand& x);
Tensor Round(const Operand& x, int64_t decimals = 0);  // Rounds to `decimals` decimals, half to even.
// log(x / (1 - x)), with x first clamped to [eps, 1 - eps].
Tensor Logit(const Operand& x, std::optional<double> eps = {});
// Replaces NaN and infinities; posinf and neginf default to the type's greatest and least numbers.
Tensor NanToNum(const Operand& x, double nan = 0, std::optional<double> posinf = {},
                std::optional<double> neginf = {});

Tensor Pow(const Operand& x, const Operand& y);          // x to the power of y.
Tensor FloatPower(const Operand& x, const Operand& y);   // Pow in f64 or c128.
Tensor Remainder(const Operand& x, const Operand& y);    // The remainder of the division, with the sign of y.
Tensor Fmod(const Operand& x, const Operand& y);         // The remainder of the division, with the sign of x.
Tensor FloorDivide(const Operand& x, const Operand& y);  // floor(x / y).
Tensor TruncDivide(const Operand& x, const Operand& y);  // trunc(x / y): Div with rounding_mode trunc.
Tensor Atan2(const Operand& x, const Operand& y);        // The angle of the point (y, x).
Tensor Maximum(const Operand& x, const Operand& y);      // The larger; NaN when either is NaN.
Tensor Minimum(const Operand& x, const Operand& y);      // The smaller; NaN when either is NaN.
Tensor Fmax(const Operand& x, const Operand& y);         // The larger; NaN only when both are NaN.
Tensor Fmin(const Operand& x, const Operand& y);         // The smaller; NaN only when both are NaN.
Tensor Heaviside(const Operand& x, const Operand& y);    // 0 where x < 0, 1 where x > 0, y where x is 0.
Tensor Copysign(const Operand& x, const Operand& y);     // |x| with the sign of y.
Tensor Hypot(const Operand& x, const Operand& y);        // sqrt(x x + y y).
Tensor Logaddexp(const Operand& x, const Operand& y);    // log(exp(x) + exp(y)).
Tensor Logaddexp2(const Operand& x, const Operand& y);   // log2(2^x + 2^y).
Tensor Xlogy(const Operand& x, const Operand& y);        // x log(y), and 0 where x is 0.
Tensor Complex(const Operand& x, const Operand& y);      // x + i y.
Tensor Polar(const Operand& x, const Operand& y);        // The complex number of modulus x and angle y.

Tensor Rsub(const Operand& x, const Operand& y, Scalar alpha = 1);  // y - alpha x
Tensor Positive(const Operand& x);                                  // x itself; bools are refused.
Tensor ConjPhysical(const Operand& x);                              // The same as Conj().
Tensor ResolveConj(const Operand& x);  // Returns x: conjugation is never deferred here.
Tensor ResolveNeg(const Operand& x);   // Returns x: negation is never deferred here.

// x as a mantissa m in [0.5, 1), with its sign, and an exponent e of type s32: x = m 2^e.
std::pair<Tensor, Tensor> Frexp(const Operand& x);
Tensor Ldexp(const Operand& x, const Operand& y);      // x 2^y
Tensor Nextafter(const Operand& x, const Operand& y);  // The next number of the type, from x towards y.
Tensor Gcd(const Operand& x, const Operand& y);        // The greatest common divisor of integers.
Tensor Lcm(const Operand& x, const Operand& y);        // The least common multiple of integers.

// The quotient, rounded towards zero (kTrunc) or down (kFloor) to an integer.
enum class Rounding { kNone, kTrunc, kFloor };
Tensor Div(const Operand& x, const Operand& y, Rounding rounding);
// Clamps to [min, max]; each bound may be absent, a number or a tensor.
Tensor Clamp(const Operand& x, std::optional<Operand> min, std::optional<Operand> max = {});
Tensor ClampMin(const Operand& x, const Operand& min);  // At least `min`; NaN stays.
Tensor ClampMax(const Operand& x, const Operand& max);  // At most `max`; NaN stays.
// x where the condition holds, else y.
Tensor Where(const Operand& condition, const Operand& x, const Operand& y);
Tensor Lerp(const Operand& start, const Operand& end, const Operand& weight);  // start + weight (end - start)
Tensor Addcmul(const Operand& x, const Operand& a, const Operand& b, Scalar value = 1);  // x + value a b
Tensor Addcdiv(const Operand& x, const Operand& a, const Operand& b, Scalar value = 1);  // x + value a / b

inline Tensor operator%(const Operand& x, const Operand& y) { return Remainder(x, y); }

}  // namespace hlod
