// Transcribes tile/math.h. Each function there says how it works; here only the selections differ in form,
// and the polynomials are shared.
#include "server/engine/assemble/math.h"

#include <limits>

namespace hlod::engine::assemble {
namespace {

#include "server/engine/tile/polynomials.h"

constexpr uint64_t kSign64 = uint64_t{1} << 63;
constexpr uint32_t kSign32 = uint32_t{1} << 31;
constexpr double kInf = std::numeric_limits<double>::infinity();

Num SignBit(const Num& like) { return like.lanes->Bits(like.wide ? kSign64 : kSign32, like.wide); }
Num Magnitude(const Num& like) { return like.lanes->Bits(like.wide ? ~kSign64 : ~kSign32, like.wide); }
Num Number(double value, const Num& like) { return like.lanes->Float(value, like.wide); }
Num Integer(int64_t value, const Num& like) {
  return like.lanes->Bits(static_cast<uint64_t>(value), like.wide);
}
Mask Is(Order order, const Num& a, double b) { return a.lanes->Compare(order, a, Number(b, a)); }

// Return true for constants: numbers that are not zero, and +0.
bool IsPlain(const Num& x) {
  if (x.IsRegister()) return false;
  const uint64_t magnitude = x.bits << (x.wide ? 1 : 33),
                 infinity = uint64_t{x.wide ? 0x7ffu : 0xffu} << (x.wide ? 53 : 56);
  return magnitude != 0 && magnitude <= infinity;
}
bool IsPositiveZero(const Num& x) { return !x.IsRegister() && x.bits == 0; }

// The argument of an exponential, where its result is not zero. The other elements are left out: processors
// are slow at results that underflow, and masks of attention have many (e^-1e9).
struct Argument {
  Num value;
  Mask counts;
};
Argument ArgumentOf(const Num& x, double low, double high) {
  Lanes& l = *x.lanes;
  const Num value = PlainMin(Number(high, x), x);  // NaN stays.
  const Mask counts = l.AboveOrNan(value, Number(low, x));
  // AVX-512 leaves them out in the last instruction.
  return {l.avx512() ? value : l.SelectOrZero(counts, value), counts};
}

Num Exp64(const Num& x) {
  Lanes& l = *x.lanes;
  constexpr double kMagic = 6755399441055744.0;
  const auto [y, counts] = ArgumentOf(x, -746.0, 710.0);
  const Num shifted = MulAdd(y, 1.44269504088896340736, kMagic);
  const Num n = shifted - kMagic;
  const Num p = 1.0 + ReducedExpm1(MulAdd(n, -1.42860682030941723212e-6, MulAdd(n, -6.93145751953125e-1, y)));
  if (l.avx512()) return l.ScaleOrZero(counts, p, n);
  const Num exponent = l.SubInt(shifted, Number(kMagic, x));
  const Num half = l.SubInt(l.ShiftRight(l.AddInt(exponent, Integer(4096, x)), 1), Integer(2048, x));
  const Num scale1 = l.ShiftLeft(l.AddInt(half, Integer(1023, x)), 52);
  const Num scale2 = l.ShiftLeft(l.AddInt(l.SubInt(exponent, half), Integer(1023, x)), 52);
  return l.SelectOrZero(counts, p * scale1 * scale2);  // NaN stays NaN.
}

Num Exp32(const Num& x) {
  Lanes& l = *x.lanes;
  constexpr float kMagic = 12582912.0f;
  const auto [y, counts] = ArgumentOf(x, -104.0, 89.0);
  const Num shifted = MulAdd(y, 1.44269504088896341f, kMagic);
  const Num n = shifted - kMagic;
  const Num r = MulAdd(n, 2.12194440e-4f, MulAdd(n, -0.693359375f, y));
  const Num p = MulAdd(ExpTail(r) * r, r, r) + 1.0f;
  // The same scaling in one instruction.
  if (l.avx512()) return l.ScaleOrZero(counts, p, n);
  const Num exponent = l.SubInt(shifted, Integer(0x4b400000, x));
  const Num half = l.ShiftRightSigned(exponent, 1);
  const Num scale1 = l.ShiftLeft(l.AddInt(half, Integer(127, x)), 23);
  const Num scale2 = l.ShiftLeft(l.AddInt(l.SubInt(exponent, half), Integer(127, x)), 23);
  return l.SelectOrZero(counts, p * scale1 * scale2);  // NaN stays NaN.
}

Num Expm1Of32(const Num& x) {
  Lanes& l = *x.lanes;
  const Num small = MulAdd(Expm1Tail(x) * x, x, x);
  const Num large = Exp32(x) - 1.0;
  return CopySign(l.Select(Is(Order::kLt, Abs(x), 0.34657359f), small, large), x);
}

Num Expm1Of64(const Num& x) {
  Lanes& l = *x.lanes;
  const Mask near = Is(Order::kLt, Abs(x), 0.34657359027997264);
  const Num small = ReducedExpm1(l.SelectOrZero(near, x));
  const Num large = Exp64(x) - 1.0;
  return CopySign(l.Select(near, small, large), x);
}

Num Tanh32(const Num& x) {
  Lanes& l = *x.lanes;
  const Num y = PlainMax(Number(-kTanhOne, x), PlainMin(Number(kTanhOne, x), x));  // NaN stays.
  return l.Select(Is(Order::kLt, Abs(x), kTanhSame), x, TanhQuotient(y));
}

Num Tanh64(const Num& x) {
  Lanes& l = *x.lanes;
  const Num a = Abs(x), z = x * x;
  const Num small = x + x * z * TanhTail64(z);
  const Num e = Exp64(a * -2.0);
  const Num large = (1.0 - e) / (1.0 + e);
  const Num result = CopySign(l.Select(Is(Order::kLt, a, 0.625), small, large), x);
  return l.Select(l.Unordered(x), x, result);
}

Num Log64(const Num& x) {
  Lanes& l = *x.lanes;
  const Mask subnormal = Is(Order::kLt, x, std::numeric_limits<double>::min());
  const Num bits = l.Select(subnormal, x * 18014398509481984.0, x);
  const Num biased = l.Or(l.ShiftRight(bits, 52), Integer(int64_t{0x433} << 52, x)) - 4503599627370496.0;
  Num m = l.Or(l.And(bits, Integer(0x000fffffffffffff, x)), Integer(0x3fe0000000000000, x));
  const Mask low = Is(Order::kLt, m, 0.70710678118654752440);
  const Num e = biased - l.Select(subnormal, Number(1076.0, x), Number(1022.0, x)) -
                l.SelectOrZero(low, Number(1.0, x));
  m = l.Select(low, m + m - 1.0, m - 1.0);
  const Num z = m * m;
  Num y = m * (z * LogTail64(m));
  y = MulAdd(e, -2.121944400546905827679e-4, y);
  y = MulAdd(z, -0.5, y);
  Num result = MulAdd(e, 0.693359375, m + y);
  result = l.Select(Is(Order::kEq, x, kInf), x, result);
  result = l.Select(Is(Order::kEq, x, 0.0), Number(-kInf, x), result);
  const Mask none = l.Or(Is(Order::kLt, x, 0.0), l.Unordered(x));
  return l.Select(none, Number(std::numeric_limits<double>::quiet_NaN(), x), result);
}

}  // namespace

Num Abs(const Num& x) { return x.lanes->And(x, Magnitude(x)); }
Num Negate(const Num& x) { return x.lanes->Xor(x, SignBit(x)); }
Num CopySign(const Num& magnitude, const Num& sign) {
  Lanes& l = *magnitude.lanes;
  return l.Or(l.And(magnitude, Magnitude(magnitude)), l.And(sign, SignBit(sign)));
}

// Each instruction returns its second operand for NaN and for two zeros; the other order is right for the
// rest.
Num Minimum(const Num& given_a, const Num& given_b) {
  Lanes& l = *given_a.lanes;
  if (IsPlain(given_a)) return PlainMin(given_a, given_b);
  if (IsPlain(given_b)) return PlainMin(given_b, given_a);
  const Num a = l.InRegister(given_a), b = l.InRegister(given_b);
  // The union of a NaN and any number is a NaN, and that of the zeros is -0.
  return l.Or(PlainMin(a, b), PlainMin(b, a));
}
Num Maximum(const Num& given_a, const Num& given_b) {
  Lanes& l = *given_a.lanes;
  if (IsPlain(given_a)) return PlainMax(given_a, given_b);
  if (IsPlain(given_b)) return PlainMax(given_b, given_a);
  // A rectifier: adding +0 changes -0 only.
  if (IsPositiveZero(given_a)) return PlainMax(given_a, given_b) + 0.0;
  if (IsPositiveZero(given_b)) return PlainMax(given_b, given_a) + 0.0;
  const Num a = l.InRegister(given_a), b = l.InRegister(given_b);
  const Num larger = l.And(PlainMax(a, b), PlainMax(b, a));
  return l.Select(l.Unordered(a, b), a + b, larger);
}

Num Exp(const Num& x) { return x.wide ? Exp64(x) : Exp32(x); }
Num Expm1(const Num& x) { return x.wide ? Expm1Of64(x) : Expm1Of32(x); }
Num Tanh(const Num& x) { return x.wide ? Tanh64(x) : Tanh32(x); }

Num Log(const Num& x) {
  if (x.wide) return Log64(x);
  Lanes& l = *x.lanes;
  const Mask subnormal = Is(Order::kLt, x, 1.17549435e-38f);
  const Num bits = l.Select(subnormal, x * 8388608.0f, x);
  Num e = l.SubInt(l.And(l.ShiftRight(bits, 23), Integer(0xff, x)), Integer(126, x));
  Num m = l.Or(l.And(bits, Integer(0x007fffff, x)), Integer(0x3f000000, x));
  const Mask low = Is(Order::kLt, m, 0.707106781186547524f);
  e = l.Select(low, l.SubInt(e, Integer(1, x)), e);
  m = l.Select(low, m + m - 1.0, m - 1.0);
  const Num fe = FloatOfInteger(l.Select(subnormal, l.SubInt(e, Integer(23, x)), e), true);
  const Num z = m * m;
  Num y = LogTail(m) * m * z;
  y = MulAdd(fe, -2.12194440e-4f, y);
  y = MulAdd(z, -0.5f, y);
  const Num reduced = m + y;
  Num result = MulAdd(fe, 0.693359375f, reduced);
  result = l.Select(Is(Order::kEq, x, kInf), Number(kInf, x), result);
  result = l.Select(Is(Order::kEq, x, 0.0), Number(-kInf, x), result);
  const Mask none = l.Or(Is(Order::kLt, x, 0.0), l.Unordered(x));
  return l.Select(none, Number(std::numeric_limits<double>::quiet_NaN(), x), result);
}

Num Log1p(const Num& x) {
  Lanes& l = *x.lanes;
  const Num u = 1.0 + x;
  const Num d = u - 1.0;
  const Mask zero = Is(Order::kEq, d, 0.0);
  const Num scaled = Log(u) * (x / l.Select(zero, Number(1.0, x), d));
  Num result = l.Select(zero, x, scaled);
  result = l.Select(Is(Order::kEq, u, 0.0), Number(-kInf, x), result);
  return l.Select(Is(Order::kEq, u, kInf), Number(kInf, x), result);
}

Num Logistic(const Num& x) {
  Lanes& l = *x.lanes;
  const Num e = Exp(Negate(Abs(x)));
  const Num r = 1.0 / (1.0 + e);
  const Num rest = l.Select(l.Unordered(x), x, e * r);
  return l.Select(Is(Order::kGe, x, 0.0), r, rest);
}

Num Erf(const Num& x) {
  Lanes& l = *x.lanes;
  const Num a = Abs(x), z = x * x;
  const Num small = x * ErfNear(z);
  const Num t = 1.0 / MulAdd(a, 0.3275911f, 1.0);
  const Num large = CopySign(1.0 - ErfFar(t) * t * Exp32(Negate(z)), x);
  const Num result = l.Select(Is(Order::kLt, a, 1.0), small, large);
  return l.Select(l.Unordered(x), x, result);
}

Num RoundToBf16(const Num& x) {
  Lanes& l = *x.lanes;
  const Num last = l.And(l.ShiftRight(x, 16), Integer(1, x));
  const Num rounded = l.AddInt(l.AddInt(x, last), Integer(0x7fff, x));
  const Num quiet = l.Or(x, Integer(0x400000, x));
  return l.And(l.Select(l.Unordered(x), quiet, rounded), Integer(0xffff0000, x));
}

Num FloatOfInteger(const Num& x, bool is_signed) {
  Lanes& l = *x.lanes;
  if (is_signed) return l.Apply(Inst::kIdVcvtdq2ps, x, false);
  if (l.avx512()) return l.Apply(Inst::kIdVcvtudq2ps, x, false);
  // Both halves are exact, so the sum is rounded once.
  const Num high = l.Apply(Inst::kIdVcvtdq2ps, l.ShiftRight(x, 16), false);
  const Num low = l.Apply(Inst::kIdVcvtdq2ps, l.And(x, Integer(0xffff, x)), false);
  return high * 65536.0 + low;
}

Num IntegerOfFloat(const Num& x, bool is_signed) {
  Lanes& l = *x.lanes;
  const double low = is_signed ? -2147483648.0 : 0.0, high = is_signed ? 2147483648.0 : 4294967296.0;
  const Mask inside = l.And(Is(Order::kGt, x, low), Is(Order::kLt, x, high));
  const Num number = l.SelectOrZero(inside, x);
  Num converted;
  if (is_signed) {
    converted = l.Apply(Inst::kIdVcvttps2dq, number, false);
  } else if (l.avx512()) {
    converted = l.Apply(Inst::kIdVcvttps2udq, number, false);
  } else {
    // The upper half is converted without its highest bit.
    const Mask upper = Is(Order::kGe, number, 2147483648.0);
    const Num lowered = l.Select(upper, number - 2147483648.0, number);
    const Num part = l.Apply(Inst::kIdVcvttps2dq, lowered, false);
    converted = l.Xor(part, l.SelectOrZero(upper, Integer(kSign32, x)));
  }
  const Num most = Integer(is_signed ? 0x7fffffff : 0xffffffff, x);
  const Num least = Integer(is_signed ? kSign32 : 0, x);
  converted = l.Select(Is(Order::kLe, x, low), least, converted);
  return l.Select(Is(Order::kGe, x, high), most, converted);
}

}  // namespace hlod::engine::assemble
