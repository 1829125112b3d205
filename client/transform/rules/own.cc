// Derivatives of lowerings that have their own rule, by name (client/tensor/autograd/own_derivative.h). The
// operands of a rule are the results, followed by the arrays that they are a function of.
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/ops/special/gamma_functions.h"
#include "client/tensor/ops/special/polynomials.h"
#include "client/tensor/ops/special/special_functions.h"
#include "client/tensor/ops/special/special_series.h"
#include "client/transform/autodiff/rules.h"
#include "client/transform/rules/own.h"

namespace hlod::lazy {
namespace {

Op Exp(Lowering& l, Op x) { return l.b.Unary(hlo::kExponential, x); }
Op Log(Lowering& l, Op x) { return l.b.Unary(hlo::kLog, x); }
Op Negative(Lowering& l, Op x) { return l.b.Unary(hlo::kNegate, x); }
// Returns zero where `pred` is true, otherwise x.
Op ZeroWhere(Lowering& l, Op pred, Op x) { return SelectOps(l, pred, N(l, x, 0), x); }

// The rule of a function of one operand: `derivative` computes its derivative from the result y and the
// operand x.
template <Op (*derivative)(Lowering& l, Op y, Op x)>
Tangents OfOne(const TangentArgs& c) {
  return {c.t[1] * derivative(c.l, c.x[0], c.x[1])};
}

Op Erfinv(Lowering& l, Op y, Op) { return Exp(l, y * y) * N(l, y, std::sqrt(std::numbers::pi) / 2); }
Op Ndtri(Lowering& l, Op y, Op) {
  return Exp(l, y * y * N(l, y, 0.5)) * N(l, y, std::sqrt(2 * std::numbers::pi));
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
Op Entr(Lowering& l, Op, Op x) { return Negative(l, Log(l, x) + N(l, x, 1)); }
Op Ndtr(Lowering& l, Op, Op x) {
  return Exp(l, x * x * N(l, x, -0.5)) * N(l, x, 1 / std::sqrt(2 * std::numbers::pi));
}
// The density over Ndtr. Left of 0, both are divided by exp(-x^2 / 2), which underflows there; right of 0,
// their quotient by it would overflow.
Tangents LogNdtr(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op x = l.Convert(c.x[1], hlo::kF64);
  const Op below = CompareOps(l, x, 0, Order::kLt), zero = N(l, x, 0);
  const Op left = SelectOps(l, below, x, zero), right = SelectOps(l, below, zero, x);
  const Op tail = ErfcxOps(l, left * N(l, x, -std::numbers::sqrt2 / 2));
  const Op high =
      Exp(l, right * right * N(l, x, -0.5)) / ErfcOps(l, right * N(l, x, -std::numbers::sqrt2 / 2));
  const Op ratio = N(l, x, std::sqrt(2 / std::numbers::pi)) * SelectOps(l, below, N(l, x, 1) / tail, high);
  return {c.t[1] * l.Convert(ratio, l.type(c.t[1]))};
}
Op Erfc(Lowering& l, Op, Op x) {
  return Exp(l, Negative(l, x * x)) * N(l, x, -2 / std::sqrt(std::numbers::pi));
}
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
Op Lgamma(Lowering& l, Op, Op x) { return DigammaOps(l, x); }
Op Digamma(Lowering& l, Op, Op x) { return TrigammaOps(l, x, x * N(l, x, std::numbers::pi)); }
Op Trigamma(Lowering& l, Op, Op x) { return ZetaOps(l, l.Full(l.type(x), l.dims(x), 3), x) * N(l, x, -2); }

Tangents Zeta(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op x = c.x[1], q = c.x[2];
  if (!IsZero(c.t[1])) Refuse("zeta has no derivative rule for its first argument");
  return {c.t[2] * Negative(l, x * ZetaOps(l, x + N(l, x, 1), q))};
}

// Gamma variates of a concentration: the derivative of the variate at which the distribution function has the
// same value. That of the logarithm is finite where the variate itself rounds to 0.
template <bool kLog>
Tangents GammaVariate(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op y = l.Convert(c.x[0], hlo::kF64), a = l.Convert(c.x[1], hlo::kF64);
  if (kLog) return {c.t[1] * l.Convert(GammaVariateSlopeOps(l, a, y), l.type(c.t[1]))};
  const Op zero = CompareOps(l, y, 0, Order::kEq), some = SelectOps(l, zero, N(l, y, 1), y);
  const Op slope = ZeroWhere(l, zero, some * GammaVariateSlopeOps(l, a, Log(l, some)));
  return {c.t[1] * l.Convert(slope, l.type(c.t[1]))};
}

Tangents GammaVariateSlope(const TangentArgs&) {
  Refuse("gamma and beta variates have no second derivative by their concentrations: Detach() these");
}

// The regularised incomplete gamma functions; the rule has only the derivative by x.
template <bool kUpper>
Tangents Igamma(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op a = c.x[1], x = c.x[2];
  if (!IsZero(c.t[1])) Refuse("igamma has no derivative rule for its first argument");
  const Op density = Exp(l, (a - N(l, a, 1)) * Log(l, x) - x - LgammaOps(l, a));
  return {c.t[2] * (kUpper ? Negative(l, density) : density)};
}

// 1, as a function of an operand by which what it is multiplied with has another derivative than its
// instructions.
Tangents OnceDifferentiable(const TangentArgs&) {
  Refuse(
      "betainc has no derivative by a or b, and then by x, and gammainc and gammaincc have none by a and then "
      "by x: take the one by x first");
}
// Returns the operand's tangent, whose derivative by x is refused.
Op OnceBy(Lowering& l, Op tangent, Op x) {
  return tangent * OwnDerivative(l, "once_differentiable", {x}, [&](absl::Span<const Op> o) {
           return l.Full(l.type(o[0]), l.dims(o[0]), 1);
         });
}

// The regularised incomplete gamma functions of a and x in loaded programs: operand 1 is the same value as a
// function of `a` alone, except at 0 and at infinity, where the value does not depend on it; the derivative
// by x is the density x^(a - 1) exp(-x) / gamma(a), of which the power is taken by itself at 0.
template <bool kUpper>
Tangents IncompleteGamma(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op infinite = CompareOps(l, c.x[3], std::numeric_limits<double>::infinity(), Order::kEq);
  const Op zero = CompareOps(l, c.x[3], 0, Order::kEq), end = l.b.Binary(hlo::kOr, infinite, zero);
  Op sum;
  if (!IsZero(c.t[1])) sum = OnceBy(l, ZeroWhere(l, end, c.t[1]), c.x[3]);
  if (IsZero(c.t[3])) return {sum};
  const Op a = l.Convert(c.x[2], hlo::kF64), x = l.Convert(c.x[3], hlo::kF64);
  const Op below = a - N(l, a, 1), scale = LgammaOps(l, a);
  const Op inside = SelectOps(l, end, N(l, x, 0.5), x), outside = SelectOps(l, zero, x, N(l, x, 0.5));
  const Op at_zero = l.b.Binary(hlo::kPower, outside, below) * Exp(l, Negative(l, outside + scale));
  const Op density = SelectOps(l, zero, at_zero, Exp(l, below * Log(l, inside) - inside - scale));
  const Op slope = ZeroWhere(l, infinite, kUpper ? Negative(l, density) : density);
  return {SumOf(l, sum, c.t[3] * l.Convert(slope, l.type(c.t[3])))};
}

// The regularised incomplete beta function of a, b and x: the derivative by a and b is that of operand 1, the
// same value as a function of these alone, whose derivative by x is refused; the one by x is the density x^(a
// - 1) (1 - x)^(b - 1) / beta(a, b). Its logarithm has no end for large a and b, but is infinite at 0 and 1,
// where the powers have derivatives.
Tangents Betainc(const TangentArgs& c) {
  Lowering& l = c.l;
  const auto by_parameters = [&]() -> Op { return IsZero(c.t[1]) ? Op{} : OnceBy(l, c.t[1], c.x[4]); };
  if (IsZero(c.t[4])) return {by_parameters()};
  const auto wide = [&](size_t i) { return l.Convert(c.x[i], hlo::kF64); };
  const Op a = wide(2), b = wide(3), x = wide(4), one = N(l, x, 1), below_a = a - one, below_b = b - one;
  const Op end = l.b.Binary(hlo::kOr, CompareOps(l, x, 0, Order::kEq), CompareOps(l, x, 1, Order::kEq));
  const Op inside = SelectOps(l, end, N(l, x, 0.5), x), outside = SelectOps(l, end, x, N(l, x, 0.5));
  const Op log_scale = LgammaOps(l, a + b) - LgammaOps(l, a) - LgammaOps(l, b);
  const auto power = [&](Op base, Op exponent) { return l.b.Binary(hlo::kPower, base, exponent); };
  const Op log_density = below_a * Log(l, inside) + below_b * Log(l, one - inside) + log_scale;
  // If exp(log_scale) is infinite, one of the powers is 0.
  const Op scale = Exp(l, l.b.Binary(hlo::kMinimum, log_scale, N(l, x, 700)));
  const Op at_end = power(outside, below_a) * power(one - outside, below_b) * scale;
  const Op density = SelectOps(l, end, at_end, Exp(l, log_density));
  return {SumOf(l, by_parameters(), c.t[4] * l.Convert(density, l.type(c.t[4])))};
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
    const Op turned =
        times(c.t[2], Negative(l, l.b.Unary(hlo::kImag, result)), l.b.Unary(hlo::kReal, result));
    sum = SumOf(l, sum, turned);
  }
  return {sum};
}

// The results are the mantissa x / 2^exponent, and the exponent.
Tangents Frexp(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op exponent = Negative(l, l.Convert(c.x[1], l.type(c.x[2])));
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
    sum = SumOf(l, sum, c.t[2] * (l.b.Unary(hlo::kLogPlusOne, Negative(l, x)) - Log(l, x)));
  }
  return {sum};
}

// The results are the value and the index of a selected element along a dimension, which has size 1 in both
// or is removed.
Tangents AtIndex(const TangentArgs& c) {
  Lowering& l = c.l;
  const Dims kept = l.dims(c.x[1]), from = l.dims(c.x[2]);
  int64_t dim = 0;
  while (dim < RankOf(l, c.x[1]) && kept[dim] == from[dim]) ++dim;
  return {dim == RankOf(l, c.x[1]) ? c.t[2] : GatherAlong(l, c.t[2], dim, c.x[1]), Op{}};
}

// Elements that are written to given indices along dimension 1.
Tangents Placed(const TangentArgs& c) {
  const Op zeros = c.l.Full(c.l.type(c.x[0]), c.l.dims(c.x[0]), 0);
  return {ScatterAlong(c.l, zeros, 1, c.x[2], c.t[1], Combine::kAdd)};
}

// A selected element of a whole array (a median): its tangent is the mean of the tangents of the elements
// that equal it, where NaN equals NaN.
Tangents EqualShares(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op x = c.x[1], y = l.BroadcastTo(c.x[0], l.dims(x));
  const Op nans = l.b.Binary(hlo::kAnd, NanOps(l, x), NanOps(l, y));
  const Op equal = l.b.Binary(hlo::kOr, CompareOps(l, x, y, Order::kEq), nans);
  Dims all;
  for (int64_t dim = 0; dim < RankOf(l, x); ++dim) all.push_back(dim);
  const Op count = l.Reduce(hlo::kAdd, l.Convert(equal, l.type(x)), all);
  return {l.Reduce(hlo::kAdd, SelectOps(l, equal, c.t[1], N(l, x, 0)), all) / count};
}

}  // namespace

namespace {

using OwnRules = std::map<std::string_view, TangentRule>;

const OwnRules& ElementwiseRules() {
  static const auto* const rules = new OwnRules{
      {"erfinv", OfOne<Erfinv>},
      {"ndtri", OfOne<Ndtri>},
      {"sinc", OfOne<Sinc>},
      {"spherical_bessel_j0", OfOne<SphericalBesselJ0>},
      {"chebyshev_t", OfChebyshev<Chebyshev::kT>},
      {"chebyshev_u", OfChebyshev<Chebyshev::kU>},
      {"chebyshev_v", OfChebyshev<Chebyshev::kV>},
      {"chebyshev_w", OfChebyshev<Chebyshev::kW>},
      {"hypot", Hypot},
      {"logit", OfOne<Logit>},
      {"frexp", Frexp},
      {"scaled", ScaledTangents},
      {"polar", Polar},
      {"entr", OfOne<Entr>},
      {"ndtr", OfOne<Ndtr>},
      {"log_ndtr", LogNdtr},
      {"erfc", OfOne<Erfc>},
      {"erfcx", OfOne<Erfcx>},
      {"i0", OfOne<I0>},
      {"i1", OfOne<I1>},
      {"i0e", OfOne<I0e>},
      {"i1e", OfOne<I1e>},
      {"lgamma", OfOne<Lgamma>},
      {"digamma", OfOne<Digamma>},
      {"trigamma", OfOne<Trigamma>},
      {"zeta", Zeta},
      {"igamma", Igamma<false>},
      {"igammac", Igamma<true>},
      {"betainc", Betainc},
      {"gammainc", IncompleteGamma<false>},
      {"gammaincc", IncompleteGamma<true>},
      {"once_differentiable", OnceDifferentiable},
      {"gamma_variate", GammaVariate<false>},
      {"log_gamma_variate", GammaVariate<true>},
      {"gamma_variate_slope", GammaVariateSlope},
      {"xlogy", Xlog<0>},
      {"xlog1py", Xlog<1>},
      {"log_add_exp", LogAddExp},
      {"relu", Relu<false>},
      {"relu6", Relu<true>},
      {"same_as", SameAs},
      {"binary_cross_entropy", BinaryCrossEntropy},
  };
  return *rules;
}

const OwnRules& ArrayRules() {
  static const auto* const rules = new OwnRules{
      {"at_index", AtIndex},
      {"equal_shares", EqualShares},
      {"placed", Placed},
      {"lu", OwnLu},
      {"qr", OwnQr},
      {"svd", OwnSvd},
      {"eigh", OwnEigh},
      {"pinv", OwnPinv},
      {"determinant", OwnDeterminant},
      {"cofactors", OwnCofactors},
      {"det", OwnDet},
      {"slogdet", OwnSlogdet},
      {"reflected_qr", OwnReflectedQr},
  };
  return *rules;
}

TangentRule FindRule(const OwnRules& rules, std::string_view name) {
  const auto found = rules.find(name);
  return found == rules.end() ? nullptr : found->second;
}

}  // namespace

TangentRule OwnTangentRule(std::string_view name) {
  for (const OwnRules* rules : {&ElementwiseRules(), &ArrayRules()}) {
    if (const TangentRule rule = FindRule(*rules, name); rule != nullptr) return rule;
  }
  const TangentRule special = SpecialTangentRule(name);
  return special != nullptr ? special : ChloTangentRule(name);
}

bool IsElementwiseRule(std::string_view name) {
  return FindRule(ElementwiseRules(), name) != nullptr || SpecialTangentRule(name) != nullptr ||
         ChloTangentRule(name) != nullptr;
}

}  // namespace hlod::lazy
