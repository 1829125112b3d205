// Relatives of the gamma function: zeta, trigamma, incomplete gamma.
#include "client/tensor/ops/special/gamma_functions.h"
#include "client/tensor/value/numbers.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/reduction/loop.h"
#include "client/tensor/ops/special/special_functions.h"
#include "common/hlo/math/special_functions.h"

namespace hlod::lazy {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

// The maximum number of terms that a loop adds; elements that need more become NaN.
constexpr int64_t kTermsMax = 10'000;

Op And(Lowering& l, Op x, Op y) { return l.b.Binary(hlo::kAnd, x, y); }
Op Is(Lowering& l, Op x, double y) { return CompareOps(l, x, y, Order::kEq); }

// Returns true while the scalar loop counter is below its limit and an element of `active` is true.
Op GoesOn(hlo::Builder& b, Op k, Op active, hlo::ComputationId any) {
  const Op more = b.Compare(k, NumberIn(b, hlo::kS64, kTermsMax), Order::kLt);
  Dims all;
  for (size_t i = 0; i < b.shape(active).dims.size(); ++i) all.push_back(static_cast<int64_t>(i));
  const Op one = all.empty() ? active : b.Reduce(active, NumberIn(b, hlo::kPred, false), all, any);
  return b.Binary(hlo::kAnd, more, one);
}

// Adds the terms of negative q one by one (about |q| of them), because the library's formula does not hold
// there; then adds the library's sum from the first positive q + k on.
Op ZetaValue(Lowering& l, Op x, Op q) {
  const Op negative_x = l.b.Unary(hlo::kNegate, x), zero = l.Full(l.type(x), l.dims(x), 0.0);
  // Elements far below 0 would take more than kTermsMax terms: they become NaN.
  const Op reachable = CompareOps(l, q, -static_cast<double>(kTermsMax) + 10, Order::kGt);
  const Op from = SelectOps(l, reachable, q, N(l, q, kNan));
  const hlo::ComputationId any = l.Reducer(hlo::kOr, hlo::kPred);
  const auto is_low = [](hlo::Builder& b, Op q) { return b.Compare(q, FullLike(b, q, 0), Order::kLe); };
  const State state = While(
      l, {l.Number(hlo::kS64, 0), zero, from, negative_x},
      [&](hlo::Builder& b, const State& s) { return GoesOn(b, s[0], is_low(b, s[2]), any); },
      [&](hlo::Builder& b, const State& s) {
        const Op low = is_low(b, s[2]), term = b.Binary(hlo::kPower, s[2], s[3]);
        return State{s[0] + NumberIn(b, hlo::kS64, 1), b.Select(low, s[1] + term, s[1]),
                     b.Select(low, s[2] + FullLike(b, s[2], 1), s[2]), s[3]};
      });
  Op sum = state[1] + hlo::Zeta(x, state[2]);
  const Op whole_q = l.b.Compare(q, l.b.Unary(hlo::kFloor, q), Order::kEq);
  const Op whole_x = l.b.Compare(x, l.b.Unary(hlo::kFloor, x), Order::kEq);
  const Op low = CompareOps(l, q, 0, Order::kLe);
  sum = SelectOps(l, And(l, low, l.b.Unary(hlo::kNot, whole_x)), N(l, x, kNan), sum);
  sum = SelectOps(l, And(l, low, whole_q), N(l, x, kInfinity), sum);
  sum = SelectOps(l, CompareOps(l, x, 1, Order::kLt), N(l, x, kNan), sum);
  return SelectOps(l, Is(l, x, 1), N(l, x, kInfinity), sum);
}

// Adds six terms and the asymptotic series; below 1/2 uses the reflection formula.
Op TrigammaValue(Lowering& l, Op x, Op angle) {
  const Op one = N(l, x, 1), reflected = CompareOps(l, x, 0.5, Order::kLt);
  Op z = SelectOps(l, reflected, one - x, x);
  Op sum = l.Full(l.type(x), l.dims(x), 0.0);
  for (int i = 0; i < 16; ++i) {
    sum = sum + one / (z * z);
    z = z + one;
  }
  const Op u = one / (z * z);
  // 1/z + 1/(2 z z) + sum of B(2 k) / z^(2 k + 1), with Bernoulli numbers B.
  Op tail = N(l, x, 5.0 / 66);
  for (const double c : {-1.0 / 30, 1.0 / 42, -1.0 / 30, 1.0 / 6}) tail = tail * u + N(l, x, c);
  sum = sum + (one + N(l, x, 0.5) / z + tail * u) / z;
  const Op sine = l.b.Unary(hlo::kSine, angle);
  const Op mirror = N(l, x, std::numbers::pi * std::numbers::pi) / (sine * sine) - sum;
  return SelectOps(l, reflected, mirror, sum);
}

// One of the two expansions of the incomplete gamma function, without its factor x^a exp(-x) / gamma(a).
struct IgammaPart {
  Op value, unfinished;  // `unfinished` is true for elements that have not converged.
};

// Returns the sum of the power series of the lower function, times a, for elements where `active`.
IgammaPart IgammaSeries(Lowering& l, Op a, Op x, Op active) {
  const Op one = l.Full(l.type(x), l.dims(x), 1.0);
  const hlo::ComputationId any = l.Reducer(hlo::kOr, hlo::kPred);
  // The state s is: count, active, r, term, sum, x.
  const State series = While(
      l, {l.Number(hlo::kS64, 0), active, a, one, one, x},
      [&](hlo::Builder& b, const State& s) { return GoesOn(b, s[0], s[1], any); },
      [&](hlo::Builder& b, const State& s) {
        const Op r = s[2] + FullLike(b, s[2], 1), term = s[3] * s[5] / r, sum = s[4] + term;
        const Op goes_on =
            b.Binary(hlo::kAnd, s[1], b.Compare(term, sum * FullLike(b, sum, kEps), Order::kGt));
        return State{s[0] + NumberIn(b, hlo::kS64, 1), goes_on, r, term, sum, s[5]};
      });
  return {series[4], series[1]};
}

// Returns the continued fraction of the upper function by Lentz' algorithm, for elements where `active`:
// 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)).
IgammaPart IgammaFraction(Lowering& l, Op a, Op x, Op active) {
  constexpr double kTiny = 1e-300;
  const Dims dims = l.dims(x);
  const Op one = l.Full(l.type(x), dims, 1.0);
  const hlo::ComputationId any = l.Reducer(hlo::kOr, hlo::kPred);
  const Op start = x + one - a;
  const Op d0 = one / SelectOps(l, Is(l, start, 0), N(l, x, kTiny), start);
  // The state s is: count, active, b, c, d, h, a.
  const State fraction = While(
      l, {l.Number(hlo::kS64, 0), active, start, l.Full(l.type(x), dims, 1 / kTiny), d0, d0, a},
      [&](hlo::Builder& b, const State& s) { return GoesOn(b, s[0], s[1], any); },
      [&](hlo::Builder& b, const State& s) {
        const Op next = s[0] + NumberIn(b, hlo::kS64, 1);
        const Op i = b.Broadcast(b.Convert(next, b.shape(s[2]).type), dims, {});
        const Op an = b.Unary(hlo::kNegate, i) * (i - s[6]), bn = s[2] + FullLike(b, s[2], 2);
        const auto away = [&](Op y) {
          const Op small = b.Compare(b.Unary(hlo::kAbs, y), FullLike(b, y, kTiny), Order::kLt);
          return b.Select(small, FullLike(b, y, kTiny), y);
        };
        const Op d = FullLike(b, an, 1) / away(an * s[4] + bn), c = away(bn + an / s[3]), change = c * d;
        const Op moved = b.Compare(b.Unary(hlo::kAbs, change - FullLike(b, change, 1)),
                                   FullLike(b, change, kEps), Order::kGt);
        return State{next, b.Binary(hlo::kAnd, s[1], moved),    bn,  c,
                     d,    b.Select(s[1], s[5] * change, s[5]), s[6]};
      });
  return {fraction[5], fraction[1]};
}

// Returns the value where a or x is zero, negative or infinite, as in PyTorch: all of the distribution is
// below x, or none of it.
Op IgammaEdge(Lowering& l, Op a, Op x, bool upper) {
  const Dims dims = l.dims(x);
  const Op none = l.Full(l.type(x), dims, upper ? 1.0 : 0.0),
           all = l.Full(l.type(x), dims, upper ? 0.0 : 1.0), nan = l.Full(l.type(x), dims, kNan);
  const Op a_infinite = Is(l, a, kInfinity), x_infinite = Is(l, x, kInfinity);
  Op edge = SelectOps(l, x_infinite, all, nan);
  edge = SelectOps(l, a_infinite, SelectOps(l, x_infinite, nan, none), edge);
  edge = SelectOps(l, Is(l, x, 0), none, edge);
  edge = SelectOps(l, Is(l, a, 0), SelectOps(l, CompareOps(l, x, 0, Order::kGt), all, nan), edge);
  const Op outside = l.b.Binary(hlo::kOr, CompareOps(l, a, 0, Order::kLt), CompareOps(l, x, 0, Order::kLt));
  return SelectOps(l, outside, nan, edge);
}

// Uses the power series of the lower function where x <= 1 or x <= a, otherwise Legendre's continued fraction
// of the upper function. Both are multiplied by x^a exp(-x) / gamma(a).
Op IgammaValue(Lowering& l, Op a, Op x, bool upper) {
  const Op one = l.Full(l.type(x), l.dims(x), 1.0);
  const auto finite_positive = [&](Op y) {
    return And(l, CompareOps(l, y, 0, Order::kGt), CompareOps(l, y, kInfinity, Order::kLt));
  };
  const Op regular = And(l, finite_positive(a), finite_positive(x));
  const Op safe_a = SelectOps(l, regular, a, one), safe_x = SelectOps(l, regular, x, one);
  const Op by_series =
      l.b.Binary(hlo::kOr, CompareOps(l, safe_x, 1, Order::kLe), l.b.Compare(safe_x, safe_a, Order::kLe));
  const IgammaPart series =
      IgammaSeries(l, safe_a, safe_x, And(l, l.Full(hlo::kPred, l.dims(x), true), by_series));
  const IgammaPart fraction = IgammaFraction(l, safe_a, safe_x, l.b.Unary(hlo::kNot, by_series));
  const Op factor =
      l.b.Unary(hlo::kExponential, safe_a * l.b.Unary(hlo::kLog, safe_x) - safe_x - LgammaOps(l, safe_a));
  const Op lower = factor * series.value / safe_a, rest = factor * fraction.value;
  Op result = upper ? SelectOps(l, by_series, one - lower, rest) : SelectOps(l, by_series, lower, one - rest);
  // Elements that have not converged become NaN.
  result = SelectOps(l, l.b.Binary(hlo::kOr, series.unfinished, fraction.unfinished), N(l, x, kNan), result);
  return SelectOps(l, regular, result, IgammaEdge(l, a, x, upper));
}

// A sum or a continued fraction with its derivative by a, and the elements that have not converged.
struct WithSlope {
  Op value, slope, unfinished;
};

// Returns true where a term is not yet lost in the sum.
Op Counts(hlo::Builder& b, Op term, Op sum) {
  const Op size = b.Unary(hlo::kAbs, sum) * FullLike(b, sum, kEps);
  return b.Compare(b.Unary(hlo::kAbs, term), size, Order::kGt);
}

// Returns IgammaSeries with its derivative.
WithSlope IgammaSeriesSlope(Lowering& l, Op a, Op x, Op active) {
  const Op one = l.Full(l.type(x), l.dims(x), 1.0), zero = l.Full(l.type(x), l.dims(x), 0.0);
  const hlo::ComputationId any = l.Reducer(hlo::kOr, hlo::kPred);
  // The state s is: count, active, r, term, sum, x, and the derivatives of term and sum.
  const State s = While(
      l, {l.Number(hlo::kS64, 0), active, a, one, one, x, zero, zero},
      [&](hlo::Builder& b, const State& s) { return GoesOn(b, s[0], s[1], any); },
      [&](hlo::Builder& b, const State& s) {
        const Op r = s[2] + FullLike(b, s[2], 1), ratio = s[5] / r, term = s[3] * ratio;
        const Op slope = (s[6] - s[3] / r) * ratio, sum = s[4] + term, slopes = s[7] + slope;
        const Op counts = b.Binary(hlo::kOr, Counts(b, term, sum), Counts(b, slope, slopes));
        return State{s[0] + NumberIn(b, hlo::kS64, 1),
                     b.Binary(hlo::kAnd, s[1], counts),
                     r,
                     term,
                     sum,
                     s[5],
                     slope,
                     slopes};
      });
  return {s[4], s[7], s[1]};
}

// Returns IgammaFraction with its derivative, which at whole a goes on where the fraction itself ends.
WithSlope IgammaFractionSlope(Lowering& l, Op a, Op x, Op active) {
  const Dims dims = l.dims(x);
  const Op one = l.Full(l.type(x), dims, 1.0), zero = l.Full(l.type(x), dims, 0.0);
  const hlo::ComputationId any = l.Reducer(hlo::kOr, hlo::kPred);
  // The fraction is used for x > a - 1 alone: its denominators are positive.
  const Op start = x + one - a, d0 = one / start;
  // The state s is: count, active, b, 1 / c, d, h, a, and the derivatives of 1 / c, d and h.
  const State s = While(
      l, {l.Number(hlo::kS64, 0), active, start, zero, d0, d0, a, zero, d0 * d0, d0 * d0},
      [&](hlo::Builder& b, const State& s) { return GoesOn(b, s[0], s[1], any); },
      [&](hlo::Builder& b, const State& s) {
        const Op next = s[0] + NumberIn(b, hlo::kS64, 1), unit = FullLike(b, s[2], 1);
        const Op i = b.Broadcast(b.Convert(next, b.shape(s[2]).type), dims, {});
        const Op an = i * (s[6] - i), bn = s[2] + FullLike(b, s[2], 2);  // Their derivatives are i and -1.
        const Op d = unit / (an * s[4] + bn), c = bn + an * s[3], change = c * d;
        const Op d_slope = d * d * (unit - i * s[4] - an * s[8]), c_slope = i * s[3] + an * s[7] - unit;
        const Op change_slope = c_slope * d + c * d_slope;
        const Op h = s[5] * change, h_slope = s[9] * change + s[5] * change_slope;
        const Op counts = b.Binary(hlo::kOr, Counts(b, h - s[5], h), Counts(b, h_slope - s[9], h_slope));
        return State{
            next,    b.Binary(hlo::kAnd, s[1], counts), bn,   unit / c,
            d,       b.Select(s[1], h, s[5]),           s[6], b.Unary(hlo::kNegate, c_slope / (c * c)),
            d_slope, b.Select(s[1], h_slope, s[9])};
      });
  return {s[5], s[9], s[1]};
}

// The distribution function is P = x^a exp(-x) S / gamma(a + 1) = 1 - x^a exp(-x) F / gamma(a), with the
// series S and the fraction F. The derivative of log(x) at a fixed P is -(dP/da) / (x dP/dx).
Op GammaVariateSlope(Lowering& l, Op a, Op log_x) {
  const auto number = [&](double value) { return N(l, a, value); };
  // From here on the expansions need more than a thousand terms, and Wilson and Hilferty's approximation, by
  // which cbrt(x / a) = 1 - 1 / (9 a) + z / (3 sqrt(a)) with a fixed z, has an error below 1e-9.
  const Op large = CompareOps(l, a, 1e6, Order::kGt);
  const Op cube = l.b.Unary(hlo::kExponential, (log_x - l.b.Unary(hlo::kLog, a)) * number(1. / 3));
  const Op by_cube = ((number(1.5) + number(1. / 6) / a) / cube - number(0.5)) / a;
  const Op safe_a = SelectOps(l, large, number(1), a), x = l.b.Unary(hlo::kExponential, log_x);
  const Op safe_x = SelectOps(l, large, number(1), x), safe_log = SelectOps(l, large, number(0), log_x);
  const Op tail = And(l, CompareOps(l, safe_x, 1, Order::kGt), l.b.Compare(safe_x, safe_a, Order::kGt));
  const WithSlope s = IgammaSeriesSlope(l, safe_a, safe_x, l.b.Unary(hlo::kNot, tail));
  const WithSlope f = IgammaFractionSlope(l, safe_a, safe_x, tail);
  const Op by_series = (s.value * (DigammaOps(l, safe_a + number(1)) - safe_log) - s.slope) / safe_a;
  const Op by_fraction = f.slope + f.value * (safe_log - DigammaOps(l, safe_a));
  Op slope = SelectOps(l, tail, by_fraction, by_series);
  slope = SelectOps(l, l.b.Binary(hlo::kOr, s.unfinished, f.unfinished), number(kNan), slope);
  return SelectOps(l, CompareOps(l, a, 0, Order::kGt), SelectOps(l, large, by_cube, slope), number(kNan));
}

}  // namespace

Op ZetaOps(Lowering& l, Op x, Op q) {
  const Dims dims = BroadcastDims(l.dims(x), l.dims(q));
  return OwnDerivative(l, "zeta", {l.BroadcastTo(x, dims), l.BroadcastTo(q, dims)},
                       [&](absl::Span<const Op> o) { return ZetaValue(l, o[0], o[1]); });
}
Op TrigammaOps(Lowering& l, Op x, Op angle) {
  return OwnDerivative(l, "trigamma", {x},
                       [&](absl::Span<const Op> o) { return TrigammaValue(l, o[0], angle); });
}
Op IgammaOps(Lowering& l, Op a, Op x, bool upper) {
  const Dims dims = BroadcastDims(l.dims(a), l.dims(x));
  return OwnDerivative(l, upper ? "igammac" : "igamma", {l.BroadcastTo(a, dims), l.BroadcastTo(x, dims)},
                       [&](absl::Span<const Op> o) { return IgammaValue(l, o[0], o[1], upper); });
}
Op GammaVariateSlopeOps(Lowering& l, Op a, Op log_x) {
  return OwnDerivative(l, "gamma_variate_slope", {a, log_x},
                       [&](absl::Span<const Op> o) { return GammaVariateSlope(l, o[0], o[1]); });
}

}  // namespace hlod::lazy
