// Special functions by their approximations.
#include "client/tensor/ops/special_functions.h"
#include "client/tensor/numbers.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "client/tensor/ops/elementwise.h"
#include "client/tensor/own_derivative.h"

namespace hlod::lazy {
namespace {

Op Polynomial(Lowering& l, Op x, absl::Span<const double> coefficients) {
  Op sum = l.Full(l.type(x), l.dims(x), coefficients[0]);
  for (const double c : coefficients.subspan(1)) sum = sum * x + N(l, x, c);
  return sum;
}

// Lanczos' approximation of the gamma function with g = 7 and nine terms.
constexpr double kLanczosG = 7;
constexpr std::array<double, 9> kLanczos = {0.99999999999980993227684700473478,
                                            676.520368121885098567009190444019,
                                            -1259.13921672240287047156078755283,
                                            771.3234287776530788486528258894,
                                            -176.61502916214059906584551354,
                                            12.507343278686904814458936853,
                                            -0.13857109526572011689554707,
                                            9.984369578019570859563e-6,
                                            1.50563273514931155834e-7};

// How far x is from the nearest integer, of whatever sign.
Op Fraction(Lowering& l, Op x) {
  const Op absolute = l.b.Unary(hlo::kAbs, x);
  const Op fraction = absolute - l.b.Unary(hlo::kFloor, absolute);
  return l.b.Binary(hlo::kMinimum, fraction, N(l, x, 1) - fraction);
}

// Giles' polynomials, made exact to f64 by two steps of Newton.
Op ErfinvValue(Lowering& l, Op x) {
  static constexpr std::array<double, 9> kCentre = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                                    -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                                    -0.00417768164,  0.246640727,    1.50140941};
  static constexpr std::array<double, 9> kTail = {-0.000200214257, 0.000100950558, 0.00134934322,
                                                  -0.00367342844,  0.00573950773,  -0.0076224613,
                                                  0.00943887047,   1.00167406,     2.83297682};
  const Op one = N(l, x, 1);
  const Op w = l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kLog, (one - x) * (one + x)));
  const Op centre = Polynomial(l, w - N(l, x, 2.5), kCentre);
  const Op tail = Polynomial(l, l.b.Unary(hlo::kSqrt, w) - N(l, x, 3), kTail);
  Op y = x * SelectOps(l, CompareOps(l, w, 5, Order::kLt), centre, tail);
  for (int i = 0; i < 2; ++i) {
    const Op slope = l.b.Unary(hlo::kExponential, l.b.Unary(hlo::kNegate, y * y)) *
                     N(l, x, 2 / std::sqrt(std::numbers::pi));
    y = y - (l.b.Unary(hlo::kErf, y) - x) / slope;
  }
  return SelectOps(l, CompareOps(l, l.b.Unary(hlo::kAbs, x), 1, Order::kEq), x * N(l, x, kInfinity), y);
}

Op LgammaValue(Lowering& l, Op x) {
  const Op reflect = CompareOps(l, x, 0.5, Order::kLt);
  const Op z = SelectOps(l, reflect, l.b.Unary(hlo::kNegate, x), x - N(l, x, 1));
  Op sum = l.Full(l.type(x), l.dims(x), kLanczos[0]);
  for (size_t i = 1; i < kLanczos.size(); ++i) sum = sum + N(l, x, kLanczos[i]) / (z + N(l, x, i));
  const Op t = z + N(l, x, kLanczosG + 0.5);
  const Op log_gamma = (z + N(l, x, 0.5)) * l.b.Unary(hlo::kLog, t) - t + l.b.Unary(hlo::kLog, sum) +
                       N(l, x, 0.5 * std::log(2 * std::numbers::pi));
  const Op sine = l.b.Unary(hlo::kSine, Fraction(l, x) * N(l, x, std::numbers::pi));
  const Op reflected = N(l, x, std::log(std::numbers::pi)) - l.b.Unary(hlo::kLog, sine) - log_gamma;
  const Op infinite = CompareOps(l, l.b.Unary(hlo::kAbs, x), kInfinity, Order::kEq);
  return SelectOps(l, infinite, N(l, x, kInfinity), SelectOps(l, reflect, reflected, log_gamma));
}

Op DigammaValue(Lowering& l, Op x) {
  const Op reflect = CompareOps(l, x, 0.5, Order::kLt);
  const Op z = SelectOps(l, reflect, l.b.Unary(hlo::kNegate, x), x - N(l, x, 1));
  Op numerator = l.Full(l.type(x), l.dims(x), 0.0), denominator = l.Full(l.type(x), l.dims(x), kLanczos[0]);
  for (size_t i = 1; i < kLanczos.size(); ++i) {
    const Op term = z + N(l, x, i);
    numerator = numerator - N(l, x, kLanczos[i]) / (term * term);
    denominator = denominator + N(l, x, kLanczos[i]) / term;
  }
  const Op t = z + N(l, x, kLanczosG + 0.5);
  const Op digamma = l.b.Unary(hlo::kLog, t) + numerator / denominator - N(l, x, kLanczosG) / t;
  const Op fraction = x - l.b.Unary(hlo::kFloor, x);
  const Op reflected =
      digamma - N(l, x, std::numbers::pi) / l.b.Unary(hlo::kTan, fraction * N(l, x, std::numbers::pi));
  Op result = SelectOps(l, reflect, reflected, digamma);
  const Op pole =
      l.b.Binary(hlo::kAnd, CompareOps(l, x, 0, Order::kLt), CompareOps(l, fraction, 0, Order::kEq));
  result = SelectOps(l, pole, N(l, x, std::numeric_limits<double>::quiet_NaN()), result);
  // At 0 the sign of 0 decides.
  return SelectOps(l, CompareOps(l, x, 0, Order::kEq), N(l, x, -1) / x, result);
}

}  // namespace

Op ErfinvOps(Lowering& l, Op x) {
  return OwnDerivative(l, "erfinv", {x}, [&](absl::Span<const Op> o) { return ErfinvValue(l, o[0]); });
}
Op LgammaOps(Lowering& l, Op x) {
  return OwnDerivative(l, "lgamma", {x}, [&](absl::Span<const Op> o) { return LgammaValue(l, o[0]); });
}
Op DigammaOps(Lowering& l, Op x) {
  return OwnDerivative(l, "digamma", {x}, [&](absl::Span<const Op> o) { return DigammaValue(l, o[0]); });
}

Op SincOps(Lowering& l, Op x) {
  return OwnDerivative(l, "sinc", {x}, [&](absl::Span<const Op> o) {
    const Op at = o[0] * N(l, x, std::numbers::pi);
    const Op zero = CompareOps(l, o[0], N(l, x, 0), Order::kEq);
    return SelectOps(l, zero, N(l, x, 1), l.b.Unary(hlo::kSine, at) / at);
  });
}

Op AngleOps(Lowering& l, Op x) {
  if (hlo::IsComplex(l.type(x)))
    return l.b.Binary(hlo::kAtan2, l.b.Unary(hlo::kImag, x), l.b.Unary(hlo::kReal, x));
  if (!hlo::IsFloat(l.type(x))) x = l.b.Convert(x, hlo::kF32);
  const Op angle = SelectOps(l, CompareOps(l, x, 0, Order::kLt), N(l, x, std::numbers::pi), N(l, x, 0));
  return SelectOps(l, NanOps(l, x), N(l, x, std::numeric_limits<double>::quiet_NaN()), angle);
}

Literal LargestLiteral(PrimitiveType type) {
  switch (type) {
    case hlo::kF64: return NumberLiteral(type, std::numeric_limits<double>::max());
    case hlo::kF32: return NumberLiteral(type, static_cast<double>(std::numeric_limits<float>::max()));
    case hlo::kBF16: return NumberLiteral(type, 0x1.FEp127);
    case hlo::kF16: return NumberLiteral(type, 65504.0);
    default: Refuse("the greatest number of %s is not known here", hlo::Name(type));
  }
}

}  // namespace hlod::lazy
