// Derivatives of elementwise functions that have their own rule: of tensors as PyTorch defines them, of
// loaded programs as JAX does. Those of gamma functions are in own_gamma.cc.
#include <cmath>
#include <limits>
#include <numbers>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/special/polynomials.h"
#include "client/tensor/ops/special/special_functions.h"
#include "client/tensor/ops/special/special_series.h"
#include "client/transform/rules/own.h"
#include "common/hlo/math/math.h"

namespace hlod::lazy {
namespace {

using hlo::Negative;

Op Erfinv(Lowering& l, Op y, Op) { return Exp(y * y) * N(l, y, std::sqrt(std::numbers::pi) / 2); }
Op Ndtri(Lowering& l, Op y, Op) {
  return Exp(y * y * N(l, y, 0.5)) * N(l, y, std::sqrt(2 * std::numbers::pi));
}
// The derivative of sin(y) / y: (y cos(y) - sin(y)) / y^2. Near 0, where the terms cancel, the sum of
// (-1)^k 2k / (2k + 1)! y^(2k - 1), which has higher derivatives, too.
Op SineRatioSlope(Lowering& l, Op y) {
  constexpr double kTerms[] = {-1. / 3, 1. / 30, -1. / 840, 1. / 45'360, -1. / 3'991'680, 1. / 518'918'400};
  const Op small = CompareOps(l, l.b.Unary(hlo::kAbs, y), 0.5, Order::kLt);
  const Op far = SelectOps(l, small, N(l, y, 1), y), near = SelectOps(l, small, y, N(l, y, 0));
  const Op square = near * near;
  Op series = N(l, y, 0);
  for (size_t k = std::size(kTerms); k-- > 0;) series = series * square + N(l, y, kTerms[k]);
  const Op slope = (far * l.b.Unary(hlo::kCosine, far) - l.b.Unary(hlo::kSine, far)) / (far * far);
  return SelectOps(l, small, near * series, slope);
}
Op Sinc(Lowering& l, Op, Op x) {
  return SineRatioSlope(l, x * N(l, x, std::numbers::pi)) * N(l, x, std::numbers::pi);
}
Op SphericalBesselJ0(Lowering& l, Op, Op x) { return SineRatioSlope(l, x); }

// The derivative of U: ((n + 1) T(n + 1) - x U(n)) / (x^2 - 1). Near -1 and 1, where the terms cancel, the
// first two terms of its series, so that derivatives of T up to the third, and of the others up to the
// second, are right there.
Op SlopeOfU(Lowering& l, Op x, Op n) {
  const auto number = [&](double value) { return N(l, x, value); };
  const Op one = number(1), square = x * x - one;
  const Op edge = CompareOps(l, l.b.Unary(hlo::kAbs, square), 1e-8, Order::kLt);
  const Op quotient =
      ((n + one) * ChebyshevOps(l, x, n + one, Chebyshev::kT) - x * ChebyshevOps(l, x, n, Chebyshev::kU)) /
      SelectOps(l, edge, one, square);
  const Op side = SelectOps(l, CompareOps(l, x, 0, Order::kLt), number(-1), one);
  const Op first = n * (n + one) * (n + number(2)) * number(1. / 3);
  const Op second = first * (n - one) * (n + number(3)) * number(1. / 5);
  const Op half = n * number(0.5), odd = l.b.Compare(half, l.b.Unary(hlo::kFloor, half), Order::kNe);
  // At -1 the derivative has the sign (-1)^(n - 1), and the second one the other.
  const Op sign = SelectOps(l, odd, one, side);
  return SelectOps(l, edge, sign * (first + second * (x * side - one)), quotient);
}

template <Chebyshev kKind>
Tangents OfChebyshev(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op x = c.x[1], n = c.x[2], below = n - N(l, n, 1);
  switch (kKind) {
    case Chebyshev::kT: return {c.t[1] * n * ChebyshevOps(l, x, below, Chebyshev::kU)};
    case Chebyshev::kU: return {c.t[1] * SlopeOfU(l, x, n)};
    case Chebyshev::kV: return {c.t[1] * (SlopeOfU(l, x, n) - SlopeOfU(l, x, below))};
    case Chebyshev::kW: return {c.t[1] * (SlopeOfU(l, x, n) + SlopeOfU(l, x, below))};
  }
}

// sqrt(x^2 + y^2): each side's share is its quotient by the length, which is NaN where both sides are 0, as
// in PyTorch.
Tangents Hypot(const TangentArgs& c) {
  Lowering& l = c.l;
  Op sum;
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (!IsZero(c.t[i])) sum = SumOf(l, sum, c.t[i] * (c.x[i] / c.x[0]));
  }
  return {sum};
}
// NaN outside [0, 1], like the value; +inf at +0 and at -0: without the select, x * (1 - x) is -0 at -0 and
// the quotient -inf.
Op Logit(Lowering& l, Op, Op x) {
  const Op product = x * (N(l, x, 1) - x);
  const Op outside = CompareOps(l, product, 0, Order::kLt),
           nan = N(l, x, std::numeric_limits<double>::quiet_NaN());
  const Op divisor = ZeroWhere(l, CompareOps(l, x, 0, Order::kEq), product);
  return N(l, x, 1) / SelectOps(l, outside, nan, divisor);
}
Op Entr(Lowering& l, Op, Op x) { return Negative(Log(x) + N(l, x, 1)); }
Op Ndtr(Lowering& l, Op, Op x) {
  return Exp(x * x * N(l, x, -0.5)) * N(l, x, 1 / std::sqrt(2 * std::numbers::pi));
}
// The density over Ndtr. Left of 0, both are divided by exp(-x^2 / 2), which underflows there; right of 0,
// their quotient by it would overflow.
Tangents LogNdtr(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op x = l.Convert(c.x[1], hlo::kF64);
  const Op below = CompareOps(l, x, 0, Order::kLt), zero = N(l, x, 0);
  const Op left = SelectOps(l, below, x, zero), right = SelectOps(l, below, zero, x);
  const Op tail = ErfcxOps(l, left * N(l, x, -std::numbers::sqrt2 / 2));
  const Op high = Exp(right * right * N(l, x, -0.5)) / ErfcOps(l, right * N(l, x, -std::numbers::sqrt2 / 2));
  const Op ratio = N(l, x, std::sqrt(2 / std::numbers::pi)) * SelectOps(l, below, N(l, x, 1) / tail, high);
  return {c.t[1] * l.Convert(ratio, l.type(c.t[1]))};
}
Op Erfc(Lowering& l, Op, Op x) { return Exp(Negative(x * x)) * N(l, x, -2 / std::sqrt(std::numbers::pi)); }
Op Erfcx(Lowering& l, Op y, Op x) { return x * y * N(l, x, 2) - N(l, x, 2 / std::sqrt(std::numbers::pi)); }
Op I0e(Lowering& l, Op y, Op x) { return ScaledI(l, x, 1) - l.b.Unary(hlo::kSign, x) * y; }
// Returns true where 1 / x is of no use: near 0, and for NaN.
Op IsSmall(Lowering& l, Op x) {
  return l.b.Unary(hlo::kNot, CompareOps(l, l.b.Unary(hlo::kAbs, x), 1e-16, Order::kGt));
}
Op I1e(Lowering& l, Op y, Op x) {
  const Op zero = IsSmall(l, x), divisor = SelectOps(l, zero, N(l, x, 1), x);
  const Op slope = ScaledI(l, x, 0) - y * (l.b.Unary(hlo::kSign, x) + N(l, x, 1) / divisor);
  return SelectOps(l, zero, N(l, x, 0.5), slope);
}
Op I0(Lowering& l, Op, Op x) { return UnscaledI(l, x, 1); }
Op I1(Lowering& l, Op y, Op x) {
  const Op zero = IsSmall(l, x);
  return SelectOps(l, zero, N(l, x, 0.5), UnscaledI(l, x, 0) - y / SelectOps(l, zero, N(l, x, 1), x));
}

// x log(y + shift). The derivative by x is 0 where x is 0 and the logarithm's argument is not positive.
template <int kShift>
Tangents Xlog(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op x = c.x[1], y = c.x[2], zero = CompareOps(l, x, N(l, x, 0), Order::kEq);
  Op sum;
  if (!IsZero(c.t[1])) {
    const Op log = l.b.Unary(kShift == 0 ? hlo::kLog : hlo::kLogPlusOne, y);
    const Op low = CompareOps(l, y, N(l, y, -kShift), Order::kLe);
    sum = c.t[1] * ZeroWhere(l, l.b.Binary(hlo::kAnd, zero, low), log);
  }
  if (!IsZero(c.t[2])) {
    const Op argument = kShift == 0 ? y : y + N(l, y, kShift);
    sum = SumOf(l, sum, c.t[2] * (x / argument));  // The quotient is NaN where both are 0.
  }
  return {sum};
}

// log(exp(x) + exp(y)): each operand has a share of the derivative, one half at ties. The share is always
// computed as the logistic function of the difference, so that higher derivatives exist at ties, too. The
// difference of two infinities of the same sign is taken as 0. A third operand is the logarithm of another
// base than e.
Tangents LogAddExp(const TangentArgs& c) {
  Lowering& l = c.l;
  Op sum;
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (IsZero(c.t[i])) continue;
    const Op x = c.x[i], y = c.x[3 - i];
    const Op infinite =
        CompareOps(l, l.b.Unary(hlo::kAbs, x), N(l, x, std::numeric_limits<double>::infinity()), Order::kEq);
    const Op same = l.b.Binary(hlo::kAnd, infinite, CompareOps(l, x, y, Order::kEq));
    Op difference = ZeroWhere(l, same, x - y);
    if (c.x.size() > 3) difference = difference * c.x[3];
    sum = SumOf(l, sum, c.t[i] * l.b.Unary(hlo::kLogistic, difference));
  }
  return {sum};
}

// max(x, 0), or min(max(x, 0), 6), with the derivative 0 at the kinks.
template <bool kSix>
Tangents Relu(const TangentArgs& c) {
  Lowering& l = c.l;
  Op inside = CompareOps(l, c.x[1], 0, Order::kGt);
  if (kSix) inside = l.b.Binary(hlo::kAnd, inside, CompareOps(l, c.x[1], 6, Order::kLt));
  return {SelectOps(l, inside, c.t[1], N(l, c.t[1], 0))};
}

// A value with the derivative of its operand, from which it differs only where that has no value.
Tangents SameAs(const TangentArgs& c) { return {c.t[1]}; }

// A function whose derivative is its last operand: returns the tangent of the first operand times it.
Tangents ScaledTangents(const TangentArgs& c) { return {c.t[1] * c.x[2]}; }

// x exp(i angle). The derivative by x is the direction of the result, as in PyTorch: 0 where x is 0, and
// negated for negative x, which is not a modulus.
Tangents Polar(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op result = c.x[0], angle = c.x[2];
  const auto times = [&](Op real, Op re, Op im) { return l.b.Binary(hlo::kComplex, real * re, real * im); };
  Op sum;
  if (!IsZero(c.t[1])) {
    const Op sign = l.b.Unary(hlo::kSign, c.x[1]);
    sum = times(c.t[1] * sign, l.b.Unary(hlo::kCosine, angle), l.b.Unary(hlo::kSine, angle));
  }
  if (!IsZero(c.t[2])) {
    const Op turned = times(c.t[2], Negative(l.b.Unary(hlo::kImag, result)), l.b.Unary(hlo::kReal, result));
    sum = SumOf(l, sum, turned);
  }
  return {sum};
}

// The results are the mantissa x / 2^exponent, and the exponent.
Tangents Frexp(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op exponent = Negative(l.Convert(c.x[1], l.type(c.x[2])));
  return {c.t[2] * l.b.Binary(hlo::kPower, l.Full(l.type(c.x[2]), l.dims(c.x[2]), 2), exponent), Op{}};
}

Tangents BinaryCrossEntropy(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op x = c.x[1], target = c.x[2], one = N(l, x, 1);
  Op sum;
  if (!IsZero(c.t[1])) {
    const Op spread = (one - x) * x, least = l.Full(l.type(x), l.dims(x), 1e-12);
    sum = c.t[1] * ((x - target) / l.b.Binary(hlo::kMaximum, spread, least));
  }
  if (!IsZero(c.t[2])) {
    sum = SumOf(l, sum, c.t[2] * (l.b.Unary(hlo::kLogPlusOne, Negative(x)) - Log(x)));
  }
  return {sum};
}

}  // namespace

absl::Span<const OwnRow> ElementwiseOwnRules() {
  static constexpr OwnRow kRows[] = {
      {"erfinv", ByItsSlope<Erfinv>},
      {"ndtri", ByItsSlope<Ndtri>},
      {"sinc", ByItsSlope<Sinc>},
      {"spherical_bessel_j0", ByItsSlope<SphericalBesselJ0>},
      {"chebyshev_t", OfChebyshev<Chebyshev::kT>},
      {"chebyshev_u", OfChebyshev<Chebyshev::kU>},
      {"chebyshev_v", OfChebyshev<Chebyshev::kV>},
      {"chebyshev_w", OfChebyshev<Chebyshev::kW>},
      {"hypot", Hypot},
      {"logit", ByItsSlope<Logit>},
      {"frexp", Frexp},
      {"scaled", ScaledTangents},
      {"polar", Polar},
      {"entr", ByItsSlope<Entr>},
      {"ndtr", ByItsSlope<Ndtr>},
      {"log_ndtr", LogNdtr},
      {"erfc", ByItsSlope<Erfc>},
      {"erfcx", ByItsSlope<Erfcx>},
      {"i0", ByItsSlope<I0>},
      {"i1", ByItsSlope<I1>},
      {"i0e", ByItsSlope<I0e>},
      {"i1e", ByItsSlope<I1e>},
      {"xlogy", Xlog<0>},
      {"xlog1py", Xlog<1>},
      {"log_add_exp", LogAddExp},
      {"relu", Relu<false>},
      {"relu6", Relu<true>},
      {"same_as", SameAs},
      {"binary_cross_entropy", BinaryCrossEntropy},
  };
  return kRows;
}

}  // namespace hlod::lazy
