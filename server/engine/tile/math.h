// Transcendental functions as straight-line code on one element, so that a loop over them can be vectorised:
// without branches, calls or tables. Included only by ops_impl.h, inside its namespace. Errors are a few
// units in the last place. The methods are the classical ones (Cody-Waite reduction; Cephes' minimax
// polynomials; Kahan's log1p and expm1; Abramowitz and Stegun 7.1.26).

#define HLOD_INLINE static inline __attribute__((always_inline))

// Returns a * b + c, rounded once in the sets whose processors do that in one instruction.
#if defined(HLOD_TILE_FUSES)
HLOD_INLINE float MulAdd(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HLOD_INLINE double MulAdd(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
HLOD_INLINE float MulAdd(float a, float b, float c) { return a * b + c; }
HLOD_INLINE double MulAdd(double a, double b, double c) { return a * b + c; }
#endif

#include "server/engine/tile/polynomials.h"

HLOD_INLINE uint32_t Bits(float x) { return __builtin_bit_cast(uint32_t, x); }
HLOD_INLINE float FromBits(uint32_t x) { return __builtin_bit_cast(float, x); }
HLOD_INLINE float Abs(float x) { return FromBits(Bits(x) & 0x7fffffffu); }
HLOD_INLINE float CopySign(float magnitude, float sign) {
  return FromBits((Bits(magnitude) & 0x7fffffffu) | (Bits(sign) & 0x80000000u));
}
constexpr float kInf = __builtin_inff();
constexpr float kNan = __builtin_nanf("");

// Rounds |x| < 2^22 to the nearest integer by shifting the fraction out of the mantissa, whose bits then also
// hold the integer.
constexpr float kRoundMagic = 12582912.0f;  // 1.5 * 2^23

// e^x: x = n ln 2 + r, a polynomial in r, then two exact scalings, so that subnormal results and
// infinity are correct.
HLOD_INLINE float Exp(float x) {
  // This form keeps NaN, because every comparison with it is false.
  float y = x > 89.0f ? 89.0f : x;
  y = y < -104.0f ? -104.0f : y;
  const float shifted = MulAdd(y, 1.44269504088896341f, kRoundMagic);
  const float n = shifted - kRoundMagic;
  const float r = MulAdd(n, 2.12194440e-4f, MulAdd(n, -0.693359375f, y));
  const float p = MulAdd(ExpTail(r) * r, r, r) + 1.0f;
  const int32_t exponent = static_cast<int32_t>(Bits(shifted)) - static_cast<int32_t>(0x4b400000);
  const int32_t half = exponent >> 1;
  const float scale1 = FromBits(static_cast<uint32_t>(half + 127) << 23);
  const float scale2 = FromBits(static_cast<uint32_t>(exponent - half + 127) << 23);
  const float result = p * scale1 * scale2;
  return x != x ? x : result;
}

// ln x: x = m 2^e with m in [sqrt(1/2), sqrt(2)), a degree-8 polynomial in m - 1.
HLOD_INLINE float Log(float x) {
  const bool subnormal = x < 1.17549435e-38f;
  const float scaled = subnormal ? x * 8388608.0f : x;
  const uint32_t bits = Bits(scaled);
  int32_t e = static_cast<int32_t>(bits >> 23 & 0xff) - 126;
  float m = FromBits((bits & 0x007fffffu) | 0x3f000000u);  // [0.5, 1)
  const bool low = m < 0.707106781186547524f;
  e = low ? e - 1 : e;
  m = low ? m + m - 1.0f : m - 1.0f;
  const float fe = static_cast<float>(subnormal ? e - 23 : e);
  const float z = m * m;
  float y = LogTail(m) * m * z;
  y = MulAdd(fe, -2.12194440e-4f, y);
  y = MulAdd(z, -0.5f, y);
  const float reduced = m + y;
  float result = MulAdd(fe, 0.693359375f, reduced);
  result = x == kInf ? kInf : result;
  result = x == 0.0f ? -kInf : result;
  return x < 0.0f || x != x ? kNan : result;
}

HLOD_INLINE float Log1p(float x) {
  const float u = 1.0f + x;
  const float d = u - 1.0f;
  const float scaled = Log(u) * (x / (d == 0.0f ? 1.0f : d));
  const float result = d == 0.0f ? x : scaled;
  return u == kInf ? kInf : (u == 0.0f ? -kInf : result);
}

HLOD_INLINE float Expm1(float x) {
  // Uses the series near zero; elsewhere the subtraction does not lose significant digits.
  const float small = MulAdd(Expm1Tail(x) * x, x, x);
  const float large = Exp(x) - 1.0f;
  return CopySign(Abs(x) < 0.34657359f ? small : large, x);  // Keeps -0.
}

#if defined(HLOD_TILE_FUSES)
// A quotient of polynomials up to kTanhOne, from which on it is 1: a third of the work, and twice the error,
// of the form below, whose error it would exceed without fused operations.
HLOD_INLINE float Tanh(float x) {
  float y = x > kTanhOne ? kTanhOne : x;
  y = y < -kTanhOne ? -kTanhOne : y;
  const float quotient = TanhQuotient(y);
  return Abs(x) < kTanhSame ? x : quotient;
}
#else
HLOD_INLINE float Tanh(float x) {
  const float a = Abs(x);
  const float z = x * x;
  const float small = MulAdd(TanhTail(z) * z, x, x);
  const float e = Exp(-2.0f * a);
  const float large = CopySign((1.0f - e) / (1.0f + e), x);
  return CopySign(a < 0.625f ? small : large, x);  // Keeps -0.
}
#endif

// 1 / (1 + e^-x), without overflow on either side.
HLOD_INLINE float Logistic(float x) {
  const float e = Exp(-Abs(x));
  const float r = 1.0f / (1.0f + e);
  return x >= 0.0f ? r : (x != x ? x : e * r);
}

HLOD_INLINE float Erf(float x) {
  const float a = Abs(x);
  const float z = x * x;
  const float small = x * ErfNear(z);
  const float t = 1.0f / MulAdd(a, 0.3275911f, 1.0f);
  const float large = CopySign(1.0f - ErfFar(t) * t * Exp(-z), x);
  return x != x ? x : (a < 1.0f ? small : large);
}

// Below this limit, x = n pi/2 + r leaves r exact up to about 1e-17: n (23 bits) times the 25 bits of the
// first part of pi/2 fits into a double, and no such x is nearer to a multiple of pi/2 than 1e-9.
constexpr float kSineReducible = 8388608.0f;

// sin x (quarter 0) or cos x (quarter 1) for |x| < kSineReducible, by Taylor's series of sin r and cos r,
// whose omitted terms are less than a hundredth of a unit in the last place for |r| <= pi/4.
HLOD_INLINE float SineOrCosine(float x, int64_t quarter) {
  constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52, used like kRoundMagic.
  const double wide = x;
  const double shifted = wide * 0.63661977236758134308 + kMagic;
  const double n = shifted - kMagic;
  const int64_t quarters = __builtin_bit_cast(int64_t, shifted) + quarter;
  const double r = MulAdd(n, -1.58932547735281966916e-8, MulAdd(n, -1.57079631090164184570, wide));
  const double z = r * r;
  const double sine = r * SineFactor(z);  // Keeps -0.
  const double cosine = CosineSeries(z);
  const double value = (quarters & 1) != 0 ? cosine : sine;
  return static_cast<float>((quarters & 2) != 0 ? -value : value);
}

// The series of the logarithm to base 2 of (1 + s) / (1 - s), divided by s, of z = s^2 <= 0.0295; and
// Taylor's series of 2^f for |f| <= 1/2.
HLOD_INLINE double Log2Series(double z) {
  constexpr double kFactor = 2.88539008177792681472;  // 2 / ln 2
  const double w = z * z, v = w * w;
  const double a = MulAdd(z, kFactor / 3, kFactor), b = MulAdd(z, kFactor / 7, kFactor / 5);
  const double c = MulAdd(z, kFactor / 11, kFactor / 9), d = MulAdd(z, kFactor / 15, kFactor / 13);
  return MulAdd(MulAdd(d, w, c), v, MulAdd(b, w, a));
}
HLOD_INLINE double Exp2Series(double f) {
  const double r = f * 0.693147180559945309417;
  const double w = r * r, v = w * w;
  const double a = MulAdd(r, 1.0 / 6, 0.5), b = MulAdd(r, 1.0 / 120, 1.0 / 24);
  const double c = MulAdd(r, 1.0 / 5040, 1.0 / 720), d = MulAdd(r, 1.0 / 362880, 1.0 / 40320);
  return MulAdd(MulAdd(MulAdd(d, w, c), v, MulAdd(b, w, a)), w, r) + 1.0;
}

// base^exponent, right where PowerIsRight: 2^(exponent log2 |base|) in double, whose error is less than
// 2^-36, with the sign of the base if the exponent is odd.
HLOD_INLINE bool PowerIsRight(float base, float exponent) {
  const uint32_t magnitude = Bits(base) & 0x7fffffffu;
  return magnitude <= 0x7f800000u && (magnitude >= 0x00800000u || magnitude == 0) &&
         Abs(exponent) < 2147483648.0f;
}
HLOD_INLINE float PowerOf(float base, float exponent) {
  constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52, used like kRoundMagic.
  constexpr uint32_t kRootHalf = 0x3f3504f3;     // The bits of sqrt(1/2).
  const uint32_t magnitude = Bits(base) & 0x7fffffffu;
  const int32_t e = static_cast<int32_t>(magnitude - kRootHalf) >> 23;
  const double m = FromBits(magnitude - (static_cast<uint32_t>(e) << 23));  // [sqrt(1/2), sqrt(2))
  const double s = (m - 1.0) / (m + 1.0);
  double log2 = MulAdd(s, Log2Series(s * s), static_cast<double>(e));
  log2 = magnitude == 0 ? -1e300 : log2;
  log2 = magnitude == 0x7f800000u ? 1e300 : log2;
  double power = static_cast<double>(exponent) * log2;
  power = power > 200.0 ? 200.0 : power;  // Results are infinite from 128 on, and 0 below -150.
  power = power < -200.0 ? -200.0 : power;
  const double shifted = power + kMagic;
  const uint64_t scale = (__builtin_bit_cast(uint64_t, shifted) + 1023) << 52;
  const float result =
      static_cast<float>(Exp2Series(power - (shifted - kMagic)) * __builtin_bit_cast(double, scale));
  const bool whole_range = Abs(exponent) < 2147483648.0f;
  const int32_t whole = static_cast<int32_t>(whole_range ? exponent : 0.0f);
  const bool negative = (Bits(base) >> 31) != 0;
  const bool is_whole = static_cast<float>(whole) == exponent;
  const uint32_t sign = negative && is_whole ? static_cast<uint32_t>(whole) << 31 : 0;
  const bool real = !negative || is_whole || magnitude == 0 || magnitude == 0x7f800000u;
  return real ? FromBits(Bits(result) | sign) : kNan;
}

// The angle of the point (x, y): the arc tangent of the smaller over the larger coordinate by an odd
// polynomial below tan(pi/8), then adjusted for the octant.
HLOD_INLINE float Atan2Of(float y, float x) {
  const float ax = Abs(x), ay = Abs(y);
  const bool steep = ay > ax;
  const float small = steep ? ax : ay, large = steep ? ay : ax;
  const float ratio = small / (large == 0.0f ? 1.0f : large);
  const float q = small == large && large != 0.0f ? 1.0f : ratio;  // Handles two infinities, too.
  const bool upper = q > 0.414213562f;
  const float t = upper ? (q - 1.0f) / (q + 1.0f) : q;
  const float z = t * t;
  float p = 8.05374449538e-2f;
  p = p * z - 1.38776856032e-1f;
  p = p * z + 1.99777106478e-1f;
  p = p * z - 3.33329491539e-1f;
  float angle = (p * z) * t + t;
  angle = upper ? angle + 0.785398163f : angle;
  angle = steep ? 1.57079633f - angle : angle;
  angle = (Bits(x) >> 31) != 0 ? 3.14159265f - angle : angle;
  return x != x || y != y ? x + y : CopySign(angle, y);
}

// asin x for |x| <= 1/2; of larger ones by the half angle.
HLOD_INLINE float AsinNear(float x, float z) { return MulAdd(AsinTail(z) * z, x, x); }
HLOD_INLINE float Asin(float x) {
  const float a = Abs(x);
  const bool far = a > 0.5f;
  const float z = far ? 0.5f * (1.0f - a) : a * a;
  const float angle = AsinNear(far ? __builtin_sqrtf(z) : a, z);  // NaN outside of [-1, 1].
  const float result = far ? 1.57079633f - 2.0f * angle : angle;
  return x != x ? x : CopySign(result, x);
}
HLOD_INLINE float Acos(float x) {
  const float a = Abs(x);
  const bool far = a > 0.5f;
  const float z = far ? 0.5f * (1.0f - a) : a * a;
  const float angle = AsinNear(far ? __builtin_sqrtf(z) : x, z);
  const float below = far ? 3.14159265f - 2.0f * angle : 1.57079633f - angle;
  return far && x > 0.0f ? 2.0f * angle : below;
}

// Double precision, by Cephes' rational approximations: within two units in the last place.
HLOD_INLINE double Abs(double x) {
  return __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, x) & ~(uint64_t{1} << 63));
}
HLOD_INLINE double CopySign(double magnitude, double sign) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  return __builtin_bit_cast(double, (__builtin_bit_cast(uint64_t, magnitude) & ~kSign) |
                                        (__builtin_bit_cast(uint64_t, sign) & kSign));
}
HLOD_INLINE double Exp(double x) {
  constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52, used like kRoundMagic.
  double y = x > 710.0 ? 710.0 : x;
  y = y < -746.0 ? -746.0 : y;
  const double shifted = MulAdd(y, 1.44269504088896340736, kMagic);
  const double n = shifted - kMagic;
  const double r = MulAdd(n, -1.42860682030941723212e-6, MulAdd(n, -6.93145751953125e-1, y));
  const double p = 1.0 + ReducedExpm1(r);
  // Two exact scalings, so that subnormal results and infinity are correct.
  const int64_t exponent = __builtin_bit_cast(int64_t, shifted) - __builtin_bit_cast(int64_t, kMagic);
  const uint64_t half = static_cast<uint64_t>(exponent + 4096) / 2 - 2048;
  const double scale1 = __builtin_bit_cast(double, (half + 1023) << 52);
  const double scale2 = __builtin_bit_cast(double, (static_cast<uint64_t>(exponent) - half + 1023) << 52);
  const double result = p * scale1 * scale2;
  return x != x ? x : result;
}
HLOD_INLINE double Expm1(double x) {
  const bool near = Abs(x) < 0.34657359027997264;
  const double small = ReducedExpm1(near ? x : 0.0), large = Exp(x) - 1.0;
  return CopySign(near ? small : large, x);  // Keeps -0.
}
// ln x: x = m 2^e with m in [sqrt(1/2), sqrt(2)), as in single precision.
HLOD_INLINE double Log(double x) {
  const bool subnormal = x < 2.2250738585072014e-308;
  const double scaled = subnormal ? x * 18014398509481984.0 : x;  // 2^54
  const uint64_t bits = __builtin_bit_cast(uint64_t, scaled);
  // The exponent as a number that is added to 2^52, because not all processors convert 64-bit integers.
  const double biased = __builtin_bit_cast(double, bits >> 52 | uint64_t{0x433} << 52) - 4503599627370496.0;
  double m = __builtin_bit_cast(double, (bits & 0x000fffffffffffffu) | 0x3fe0000000000000u);  // [0.5, 1)
  const bool low = m < 0.70710678118654752440;
  const double e = biased - (subnormal ? 1076.0 : 1022.0) - (low ? 1.0 : 0.0);
  m = low ? m + m - 1.0 : m - 1.0;
  const double z = m * m;
  double y = m * (z * LogTail64(m));
  y = MulAdd(e, -2.121944400546905827679e-4, y);
  y = MulAdd(z, -0.5, y);
  double result = MulAdd(e, 0.693359375, m + y);
  result = x == __builtin_inf() ? x : result;
  result = x == 0.0 ? -__builtin_inf() : result;
  return x < 0.0 || x != x ? __builtin_nan("") : result;
}
HLOD_INLINE double Log1p(double x) {
  const double u = 1.0 + x;
  const double d = u - 1.0;
  const double scaled = Log(u) * (x / (d == 0.0 ? 1.0 : d));
  const double result = d == 0.0 ? x : scaled;
  return u == __builtin_inf() ? u : (u == 0.0 ? -__builtin_inf() : result);
}
HLOD_INLINE double Tanh(double x) {
  const double a = Abs(x), z = x * x;
  const double small = x + x * z * TanhTail64(z);
  const double e = Exp(-2.0 * a);
  const double large = (1.0 - e) / (1.0 + e);
  return x != x ? x : CopySign(a < 0.625 ? small : large, x);
}
HLOD_INLINE double Logistic(double x) {
  const double e = Exp(-Abs(x));
  const double r = 1.0 / (1.0 + e);
  return x >= 0.0 ? r : (x != x ? x : e * r);
}
