// Derivatives of special functions of loaded programs (client/transform/foreign/special.h), as JAX defines
// them.
#include <cmath>
#include <numbers>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/reduction/loop.h"
#include "client/transform/rules/own.h"
#include "common/hlo/math/math.h"

namespace hlod::lazy {
namespace {

using hlo::Negative;

// The mantissa y of x is x times a power of two, which is constant around x.
Op MantissaSlope(Lowering& l, Op y, Op x) {
  const Op nan = l.b.Compare(x, x, Order::kNe), same = l.b.Compare(x, y, Order::kEq), one = N(l, x, 1);
  return hlo::StopGradient(SelectOps(l, l.b.Binary(hlo::kOr, nan, same), one, y / x));
}

Op DawsonSlope(Lowering& l, Op y, Op x) { return N(l, x, 1) - N(l, x, 2) * x * y; }

Op LogOfOddsSlope(Lowering& l, Op, Op x) { return 1 / (x * (N(l, x, 1) - x)); }
Op XLogXSlope(Lowering& l, Op, Op x) { return Log(x) + N(l, x, 1); }

Op SineIntegralSlope(Lowering& l, Op, Op x) {
  return OwnDerivative(l, "spherical_bessel_j0", {x}, [&](absl::Span<const Op> o) {
    const Op zero = CompareOps(l, o[0], 0, Order::kEq), one = N(l, o[0], 1);
    return SelectOps(l, zero, one, Sin(o[0]) / SelectOps(l, zero, one, o[0]));
  });
}
Op CosineIntegralSlope(Lowering&, Op, Op x) { return Cos(x) / x; }
Op LogOfOneMinusExpSlope(Lowering& l, Op, Op x) { return 1 / l.b.Unary(hlo::kExponentialMinusOne, x); }
Op ExpiSlope(Lowering&, Op, Op x) { return Exp(x) / x; }

// pi x^2 / 2, reduced to [0, 2 pi) without a loss of digits for large x. The derivative is pi x.
Op HalfSquareAngle(Lowering& l, Op x) {
  const Op two = N(l, x, 2), size = l.b.Unary(hlo::kAbs, x);
  const Op rest = l.b.Binary(hlo::kRemainder, size, two);
  const Op turns = l.b.Binary(hlo::kRemainder, rest * (size - rest * N(l, x, 0.5)), two);
  return turns * N(l, x, std::numbers::pi);
}
Op FresnelSineSlope(Lowering& l, Op, Op x) { return Sin(HalfSquareAngle(l, x)); }
Op FresnelCosineSlope(Lowering& l, Op, Op x) { return Cos(HalfSquareAngle(l, x)); }

// Owen's T(h, a): by h it is -exp(-h^2 / 2) erf(a h / sqrt(2)) / (2 sqrt(2 pi)), by a
// exp(-h^2 (1 + a^2) / 2) / (2 pi (1 + a^2)).
Tangents OwensT(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op h = c.x[1], a = c.x[2];
  const auto number = [&](double value) { return N(l, h, value); };
  Op sum;
  if (!IsZero(c.t[1])) {
    const Op share = l.b.Unary(hlo::kErf, a * h * number(std::numbers::sqrt2 / 2));
    const double scale = -0.5 / std::sqrt(2 * std::numbers::pi);
    sum = c.t[1] * (Exp(h * h * number(-0.5)) * share * number(scale));
  }
  if (!IsZero(c.t[2])) {
    const Op square = a * a + number(1);
    const Op density = Exp(square * h * h * number(-0.5)) / (square * number(2 * std::numbers::pi));
    sum = SumOf(l, sum, c.t[2] * density);
  }
  return {sum};
}

// The sum over k > 0 of the terms t(k) of a hypergeometric series, each times psi(p + k) - psi(p), the sum of
// 1 / (p + j) for j < k, where p is the parameter `which`. The state is the sum, t(k), the sum of inverses,
// and the parameters.
Op SeriesByParameter(Lowering& l, absl::Span<const Op> parameters, Op x, size_t which) {
  constexpr int64_t kTerms = 250;  // JAX adds at most this number of terms.
  const size_t numerators = (parameters.size() + 1) / 2;
  const Op zero = l.Full(l.type(x), l.dims(x), 0), one = l.Full(l.type(x), l.dims(x), 1);
  State state = {zero, one, zero, x};
  state.insert(state.end(), parameters.begin(), parameters.end());
  return ForEach(l, kTerms, state, [&](hlo::Builder& b, Op k, const State& s) {
    const Op step = b.Convert(k, b.shape(s[3]).type);
    Op term = s[1] * s[3];
    for (size_t i = 0; i < parameters.size(); ++i) {
      term = b.Binary(i < numerators ? hlo::kMultiply : hlo::kDivide, term, s[4 + i] + step);
    }
    State next = s;
    next[1] = term / (step + 1);
    next[2] = s[2] + 1 / (s[4 + which] + step);
    const Op added = next[1] * next[2], unused = Is(next[1], Order::kEq, 0);
    // After an underflow the sum of inverses may be infinite.
    next[0] = s[0] + b.Select(unused, next[1], added);
    return next;
  })[0];
}

Tangents HypergeometricSlope(const TangentArgs&) {
  Refuse("hyp1f1 and hyp2f1 have no second derivative by their parameters");
}

// AppendHypergeometric() has formulas for a number of derivatives.
Tangents HypergeometricLast(const TangentArgs&) {
  Refuse("hyp1f1 and hyp2f1 have four derivatives, and no further one");
}

// The operands are the derivative by x, the parameters, those of the numerator first, and x.
Tangents Hypergeometric(const TangentArgs& c) {
  Lowering& l = c.l;
  const size_t last = c.x.size() - 1, count = last - 2, numerators = (count + 1) / 2;
  const std::vector<Op> arguments(c.x.begin() + 2, c.x.end());
  Op sum;
  if (!IsZero(c.t[last])) sum = c.t[last] * c.x[1];
  for (size_t i = 0; i < count; ++i) {
    if (IsZero(c.t[2 + i])) continue;
    const Op slope = OwnDerivative(l, "hypergeometric_end", arguments, [&](absl::Span<const Op> o) {
      const Op series = SeriesByParameter(l, o.subspan(0, count), o[count], i);
      return i < numerators ? series : Negative(series);
    });
    sum = SumOf(l, sum, c.t[2 + i] * slope);
  }
  return {sum};
}

}  // namespace

absl::Span<const OwnRow> SpecialOwnRules() {
  static constexpr OwnRow kRows[] = {
      {"mantissa", ByItsSlope<MantissaSlope>},
      {"dawsn", ByItsSlope<DawsonSlope>},
      {"sine_integral", ByItsSlope<SineIntegralSlope>},
      {"cosine_integral", ByItsSlope<CosineIntegralSlope>},
      {"expi", ByItsSlope<ExpiSlope>},
      {"log1mexp", ByItsSlope<LogOfOneMinusExpSlope>},
      {"fresnel_sine", ByItsSlope<FresnelSineSlope>},
      {"fresnel_cosine", ByItsSlope<FresnelCosineSlope>},
      {"owens_t", OwensT},
      {"hypergeometric", Hypergeometric, 1},
      {"hypergeometric_end", HypergeometricSlope},
      {"hypergeometric_last", HypergeometricLast},
      {"log_of_odds", ByItsSlope<LogOfOddsSlope>},
      {"x_log_x", ByItsSlope<XLogXSlope>},
  };
  return kRows;
}

}  // namespace hlod::lazy
