// Special functions by Chebyshev series. A function with a "near" and a "far" series uses the far one with
// the reciprocal argument, so that it covers everything beyond the near one.
#include "client/tensor/ops/special/special_series.h"
#include "client/tensor/value/numbers.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/special/special_functions.h"

namespace hlod::lazy {
namespace {

constexpr double kPi = std::numbers::pi;

struct SeriesRow {
  double low, high;
  std::vector<double> coefficients;
};
const std::vector<SeriesRow>& Rows() {
  static const auto* const kRows = new std::vector<SeriesRow>{
#define HLOD_SERIES(name, low, high, ...) {low, high, {__VA_ARGS__}},
#include "client/tensor/ops/special/chebyshev.inc"
#undef HLOD_SERIES
  };
  return *kRows;
}

Op AbsOf(Lowering& l, Op x) { return l.b.Unary(hlo::kAbs, x); }
Op Exp(Lowering& l, Op x) { return l.b.Unary(hlo::kExponential, x); }
Op Log(Lowering& l, Op x) { return l.b.Unary(hlo::kLog, x); }
Op Sqrt(Lowering& l, Op x) { return l.b.Unary(hlo::kSqrt, x); }
Op Less(Lowering& l, Op x, double y) { return CompareOps(l, x, y, Order::kLt); }

// The Bessel functions beyond 8 by modulus and phase: x^(-1/2) sqrt(2 / pi) (p cos - q sin, p sin + q cos) of
// the angle.
struct Wave {
  Op cosine, sine;
};
Wave WaveOps(Lowering& l, Op x, int order) {
  const Op inverse = N(l, x, 1) / x, u = inverse * inverse;
  const Op p = SeriesOps(l, order == 0 ? Series::kP0 : Series::kP1, u);
  const Op q = SeriesOps(l, order == 0 ? Series::kQ0 : Series::kQ1, u) * inverse;
  const Op angle = x - N(l, x, order == 0 ? kPi / 4 : 3 * kPi / 4);
  const Op cosine = l.b.Unary(hlo::kCosine, angle), sine = l.b.Unary(hlo::kSine, angle);
  const Op scale = Sqrt(l, N(l, x, 2 / kPi) / x);
  return {scale * (p * cosine - q * sine), scale * (p * sine + q * cosine)};
}

// Returns J of x in [0, 8].
Op NearJ(Lowering& l, Op x, int order) {
  return order == 0 ? SeriesOps(l, Series::kJ0Near, x * x) : SeriesOps(l, Series::kJ1Near, x * x) * x;
}

}  // namespace

// Sums the series by Clenshaw's recurrence.
Op SeriesOps(Lowering& l, Series series, Op u) {
  const SeriesRow& row = Rows()[static_cast<size_t>(series)];
  u = ClampedOps(l, u, N(l, u, row.low), N(l, u, row.high));
  const double scale = 2 / (row.high - row.low);
  const Op t = u * N(l, u, scale) - N(l, u, scale * row.low + 1), twice = t + t;
  Op next = l.Full(l.type(u), l.dims(u), 0.0), after = next;
  for (size_t i = row.coefficients.size(); i-- > 1;) {
    const Op here = twice * next - after + N(l, u, row.coefficients[i]);
    after = next;
    next = here;
  }
  return t * next - after + N(l, u, row.coefficients[0]);
}

namespace {

Op ErfcxValue(Lowering& l, Op x) {
  const Op size = AbsOf(l, x), inverse = N(l, x, 1) / size;
  const Op positive = SelectOps(l, Less(l, size, 4), SeriesOps(l, Series::kErfcxNear, size),
                                SeriesOps(l, Series::kErfcxFar, inverse * inverse) * inverse);
  return SelectOps(l, Less(l, x, 0), N(l, x, 2) * Exp(l, x * x) - positive, positive);
}

Op ErfcValue(Lowering& l, Op x) {
  const Op tail = Exp(l, l.b.Unary(hlo::kNegate, x * x)) * ErfcxValue(l, x);
  const Op far = SelectOps(l, CompareOps(l, x, kInfinity, Order::kEq), N(l, x, 0), tail);
  return SelectOps(l, CompareOps(l, x, 0.5, Order::kGt), far, N(l, x, 1) - l.b.Unary(hlo::kErf, x));
}

Op NormalQuantileValue(Lowering& l, Op p) {
  constexpr double kTail = 0.135;  // A little less than exp(-2), where the series begins to apply.
  const Op upper = CompareOps(l, p, 0.5, Order::kGt);
  const Op small = SelectOps(l, upper, N(l, p, 1) - p, p);
  const Op y = Sqrt(l, N(l, p, -2) * Log(l, small)), u = N(l, p, 1) / y;
  const Op series = SelectOps(l, Less(l, y, 8), SeriesOps(l, Series::kQuantileNear, u),
                              SeriesOps(l, Series::kQuantileFar, u));
  const Op tail = y - Log(l, y) * u - series * u;
  const Op signed_tail = SelectOps(l, upper, tail, l.b.Unary(hlo::kNegate, tail));
  const Op centre = ErfinvOps(l, (p - N(l, p, 0.5)) * N(l, p, 2)) * N(l, p, std::numbers::sqrt2);
  Op result = SelectOps(l, Less(l, small, kTail), signed_tail, centre);
  result = SelectOps(l, CompareOps(l, p, 0, Order::kEq), N(l, p, -kInfinity), result);
  result = SelectOps(l, CompareOps(l, p, 1, Order::kEq), N(l, p, kInfinity), result);
  const Op inside = l.b.Binary(hlo::kAnd, CompareOps(l, p, 0, Order::kGe), CompareOps(l, p, 1, Order::kLe));
  return SelectOps(l, inside, result, N(l, p, kNan));
}

Op ScaledIValue(Lowering& l, Op x, int order) {
  const Op size = AbsOf(l, x), u = N(l, x, 1) / size;
  Op near = SeriesOps(l, order == 0 ? Series::kI0Near : Series::kI1Near, size);
  if (order == 1) near = near * size;
  const Op far = SeriesOps(l, order == 0 ? Series::kI0Far : Series::kI1Far, u) * Sqrt(l, u);
  const Op result = SelectOps(l, CompareOps(l, size, 8, Order::kLe), near, far);
  return order == 0 ? result : SelectOps(l, Less(l, x, 0), l.b.Unary(hlo::kNegate, result), result);
}

}  // namespace

Op ErfcxOps(Lowering& l, Op x) {
  return OwnDerivative(l, "erfcx", {x}, [&](absl::Span<const Op> o) { return ErfcxValue(l, o[0]); });
}
Op ErfcOps(Lowering& l, Op x) {
  return OwnDerivative(l, "erfc", {x}, [&](absl::Span<const Op> o) { return ErfcValue(l, o[0]); });
}
Op NormalQuantileOps(Lowering& l, Op p) {
  return OwnDerivative(l, "ndtri", {p}, [&](absl::Span<const Op> o) { return NormalQuantileValue(l, o[0]); });
}
Op ScaledI(Lowering& l, Op x, int order) {
  return OwnDerivative(l, order == 0 ? "i0e" : "i1e", {x},
                       [&](absl::Span<const Op> o) { return ScaledIValue(l, o[0], order); });
}
Op UnscaledI(Lowering& l, Op x, int order) {
  return OwnDerivative(l, order == 0 ? "i0" : "i1", {x}, [&](absl::Span<const Op> o) {
    return ScaledIValue(l, o[0], order) * Exp(l, AbsOf(l, o[0]));
  });
}

Op ScaledK(Lowering& l, Op x, int order) {
  const Op u = N(l, x, 1) / x, half_log = Log(l, x * N(l, x, 0.5));
  const Op first = ScaledI(l, x, order) * Exp(l, x);
  const Op series = SeriesOps(l, order == 0 ? Series::kK0Near : Series::kK1Near, x * x);
  const Op near = order == 0 ? series - half_log * first : series * u + half_log * first;
  const Op far = SeriesOps(l, order == 0 ? Series::kK0Far : Series::kK1Far, u) * Sqrt(l, u);
  const Op result = SelectOps(l, CompareOps(l, x, 2, Order::kLe), near * Exp(l, x), far);
  const Op at_zero = SelectOps(l, CompareOps(l, x, 0, Order::kEq), N(l, x, kInfinity), result);
  return SelectOps(l, Less(l, x, 0), N(l, x, kNan), at_zero);
}

Op BesselJ(Lowering& l, Op x, int order) {
  const Op size = AbsOf(l, x);
  const Op result =
      SelectOps(l, CompareOps(l, size, 8, Order::kLe), NearJ(l, size, order), WaveOps(l, size, order).cosine);
  if (order == 0) return result;
  return SelectOps(l, SignBitOps(l, x), l.b.Unary(hlo::kNegate, result), result);
}

Op BesselY(Lowering& l, Op x, int order) {
  const Op first = NearJ(l, x, order), log = Log(l, x) * N(l, x, 2 / kPi);
  Op near = SeriesOps(l, order == 0 ? Series::kY0Near : Series::kY1Near, x * x);
  near = order == 0 ? near + log * first : near * x + log * first - N(l, x, 2 / kPi) / x;
  const Op result = SelectOps(l, CompareOps(l, x, 8, Order::kLe), near, WaveOps(l, x, order).sine);
  const Op at_zero = SelectOps(l, CompareOps(l, x, 0, Order::kEq), N(l, x, -kInfinity), result);
  return SelectOps(l, Less(l, x, 0), N(l, x, kNan), at_zero);
}

Op AiryAi(Lowering& l, Op x) {
  const Op size = AbsOf(l, x), root = Sqrt(l, size), fourth = Sqrt(l, root);
  const Op z = N(l, x, 2.0 / 3) * size * root, u = N(l, x, 1) / z;
  const Op above = SeriesOps(l, Series::kAiryAbove, u) * Exp(l, l.b.Unary(hlo::kNegate, z)) / fourth;
  const Op p = SeriesOps(l, Series::kAiryP, u * u), q = SeriesOps(l, Series::kAiryQ, u * u) * u;
  const Op angle = z + N(l, x, kPi / 4);
  const Op below = (p * l.b.Unary(hlo::kSine, angle) + q * l.b.Unary(hlo::kCosine, angle)) /
                   (fourth * N(l, x, std::sqrt(kPi)));
  const Op result =
      SelectOps(l, Less(l, x, -4), below,
                SelectOps(l, CompareOps(l, x, 2, Order::kLe), SeriesOps(l, Series::kAiryNear, x), above));
  // The result for infinities is NaN, as in PyTorch.
  return SelectOps(l, CompareOps(l, size, kInfinity, Order::kEq), N(l, x, kNan), result);
}

}  // namespace hlod::lazy
