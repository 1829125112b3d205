// Derivatives of the gamma function and its kin: its logarithm's derivatives, the incomplete gamma and beta
// functions, and variates of these distributions.
#include <cmath>
#include <limits>
#include <numbers>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/special/gamma_functions.h"
#include "client/tensor/ops/special/special_functions.h"
#include "client/tensor/ops/special/special_series.h"
#include "client/transform/rules/own.h"
#include "common/hlo/math/math.h"

namespace hlod::lazy {
namespace {

using hlo::Negative;

Op Lgamma(Lowering& l, Op, Op x) { return DigammaOps(l, x); }
Op Digamma(Lowering& l, Op, Op x) { return TrigammaOps(l, x, x * N(l, x, std::numbers::pi)); }
Op Trigamma(Lowering& l, Op, Op x) { return ZetaOps(l, l.Full(l.type(x), l.dims(x), 3), x) * N(l, x, -2); }

Tangents Zeta(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op x = c.x[1], q = c.x[2];
  if (!IsZero(c.t[1])) Refuse("zeta has no derivative rule for its first argument");
  return {c.t[2] * Negative(x * ZetaOps(l, x + N(l, x, 1), q))};
}

// Gamma variates of a concentration: the derivative of the variate at which the distribution function has the
// same value. That of the logarithm is finite where the variate itself rounds to 0.
template <bool kLog>
Tangents GammaVariate(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op y = l.Convert(c.x[0], hlo::kF64), a = l.Convert(c.x[1], hlo::kF64);
  if (kLog) return {c.t[1] * l.Convert(GammaVariateSlopeOps(l, a, y), l.type(c.t[1]))};
  const Op zero = CompareOps(l, y, 0, Order::kEq), some = SelectOps(l, zero, N(l, y, 1), y);
  const Op slope = ZeroWhere(l, zero, some * GammaVariateSlopeOps(l, a, Log(some)));
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
  const Op density = Exp((a - N(l, a, 1)) * Log(x) - x - LgammaOps(l, a));
  return {c.t[2] * (kUpper ? Negative(density) : density)};
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
  const Op at_zero = l.b.Binary(hlo::kPower, outside, below) * Exp(Negative(outside + scale));
  const Op density = SelectOps(l, zero, at_zero, Exp(below * Log(inside) - inside - scale));
  const Op slope = ZeroWhere(l, infinite, kUpper ? Negative(density) : density);
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
  const Op log_density = below_a * Log(inside) + below_b * Log(one - inside) + log_scale;
  // If exp(log_scale) is infinite, one of the powers is 0.
  const Op scale = Exp(l.b.Binary(hlo::kMinimum, log_scale, N(l, x, 700)));
  const Op at_end = power(outside, below_a) * power(one - outside, below_b) * scale;
  const Op density = SelectOps(l, end, at_end, Exp(log_density));
  return {SumOf(l, by_parameters(), c.t[4] * l.Convert(density, l.type(c.t[4])))};
}

}  // namespace

absl::Span<const OwnRow> GammaOwnRules() {
  static constexpr OwnRow kRows[] = {
      {"lgamma", ByItsSlope<Lgamma>},
      {"digamma", ByItsSlope<Digamma>},
      {"trigamma", ByItsSlope<Trigamma>},
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
  };
  return kRows;
}

}  // namespace hlod::lazy
