// Arithmetic on two and three operands.
#include <cmath>
#include <limits>
#include <numbers>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/function/function.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/elementwise/slopes.h"
#include "client/tensor/ops/shape/whole_numbers.h"
#include "hlod/ops/math.h"

namespace hlod {

using lazy::Lowering;
using lazy::Op;

namespace {

using lazy::Binary;
using lazy::Broadcasted;
using lazy::CompareOps;
using lazy::DivOps;
using lazy::LogAddExpOps;
using lazy::N;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;
using lazy::SelectOps;
using lazy::TruncOps;

Op PowOps(Lowering& l, Op x, Op y) { return Broadcasted(l, hlo::kPower, x, y); }
Op FloatPowerOps(Lowering& l, Op x, Op y) {
  const PrimitiveType type = hlo::IsComplex(l.type(x)) || hlo::IsComplex(l.type(y)) ? hlo::kC128 : hlo::kF64;
  return PowOps(l, l.Convert(x, type), l.Convert(y, type));
}

Op DifferentSigns(Lowering& l, Op x, Op y) {
  const Op negative_x = CompareOps(l, x, 0, Order::kLt), negative_y = CompareOps(l, y, 0, Order::kLt);
  return Broadcasted(l, hlo::kXor, negative_x, negative_y);
}
Op RemainderOps(Lowering& l, Op x, Op y) {
  lazy::RequireNoZeros(l, y);
  const Op rest = Broadcasted(l, hlo::kRemainder, x, y);
  const Op other = l.b.Binary(hlo::kAnd, CompareOps(l, rest, 0, Order::kNe), DifferentSigns(l, rest, y));
  return SelectOps(l, other, Broadcasted(l, hlo::kAdd, rest, y), rest);
}
// Floor division as Python defines it. The quotient of floats is computed from the exact remainder, (x -
// rest) / y, so that rounding of x / y cannot move it to the wrong integer.
Op FloorDivideOps(Lowering& l, Op x, Op y) {
  if (hlo::IsComplex(l.type(x))) Refuse("complex numbers have no floor");
  if (l.type(x) == hlo::kPred) Refuse("bools cannot be divided");
  lazy::RequireNoZeros(l, y);
  const Op rest = Broadcasted(l, hlo::kRemainder, x, y);
  const Op below = l.b.Binary(hlo::kAnd, CompareOps(l, rest, 0, Order::kNe), DifferentSigns(l, rest, y));
  if (!hlo::IsFloat(l.type(x))) {
    const Op quotient = Broadcasted(l, hlo::kDivide, x, y);
    return SelectOps(l, below, quotient - N(l, x, 1), quotient);
  }
  Op quotient = DivOps(l, lazy::SubOps(l, x, rest), y);
  quotient = SelectOps(l, below, quotient - N(l, x, 1), quotient);
  Op floor = l.b.Unary(hlo::kFloor, quotient);
  floor = SelectOps(l, CompareOps(l, quotient - floor, 0.5, Order::kGt), floor + N(l, x, 1), floor);
  // A step has the gradient 0, also where y is 0.
  const Op plain = lazy::StopGradient(l, DivOps(l, x, y));
  const Op zero = SelectOps(l, lazy::SignBitOps(l, plain), N(l, x, -0.0), N(l, x, 0.0));
  floor = SelectOps(l, CompareOps(l, quotient, 0, Order::kEq), zero, floor);
  return SelectOps(l, CompareOps(l, y, 0, Order::kEq), plain, floor);
}

// Returns x where `as_good` holds for x and y, or where y is NaN; otherwise y. So the gradient for equal
// elements is that of x.
Op WithoutNan(Lowering& l, Order as_good, Op x, Op y) {
  const Op first = Broadcasted(l, hlo::kOr, CompareOps(l, x, y, as_good), lazy::NanOps(l, y));
  return SelectOps(l, first, x, y);
}
Op HeavisideOps(Lowering& l, Op x, Op y) {
  const Op step = SelectOps(l, CompareOps(l, x, N(l, x, 0), Order::kLt), N(l, x, 0), N(l, x, 1));
  const Op at_zero = SelectOps(l, CompareOps(l, x, N(l, x, 0), Order::kEq), y, step);
  return hlo::IsFloat(l.type(x)) ? SelectOps(l, lazy::NanOps(l, x), N(l, x, 0), at_zero) : at_zero;
}
Op CopysignOps(Lowering& l, Op x, Op y) {
  const Op size = l.b.Unary(hlo::kAbs, x);
  return SelectOps(l, lazy::SignBitOps(l, y), l.b.Unary(hlo::kNegate, size), size);
}
Op LengthOf(Lowering& l, Op x, Op y) {
  const PrimitiveType type = l.type(x);
  // The squares of f32 fit into f64; those of f64 are scaled by the larger side, so that they do not
  // overflow.
  const Op a = l.b.Unary(hlo::kAbs, l.Convert(x, hlo::kF64)),
           b = l.b.Unary(hlo::kAbs, l.Convert(y, hlo::kF64));
  const Op large = Broadcasted(l, hlo::kMaximum, a, b), small = Broadcasted(l, hlo::kMinimum, a, b);
  const Op ratio = small / large;
  Op length = type != hlo::kF64 ? l.b.Unary(hlo::kSqrt, large * large + small * small)
                                : large * l.b.Unary(hlo::kSqrt, ratio * ratio + N(l, ratio, 1));
  length = SelectOps(l, CompareOps(l, large, 0, Order::kEq), large, length);
  // The result is infinite when either side is, even if the other is NaN.
  const Op infinity = N(l, a, std::numeric_limits<double>::infinity());
  const Op infinite = Broadcasted(l, hlo::kOr, CompareOps(l, a, infinity, Order::kEq),
                                  CompareOps(l, b, infinity, Order::kEq));
  return l.Convert(SelectOps(l, infinite, infinity, length), type);
}
Op HypotOps(Lowering& l, Op x, Op y) {
  const PrimitiveType type = l.type(x);
  if (!hlo::IsFloat(type)) Refuse("hypot takes floating types, not %s", hlo::Name(type));
  const Dims dims = lazy::BroadcastDims(l.dims(x), l.dims(y));
  return lazy::OwnDerivative(l, "hypot", {l.BroadcastTo(x, dims), l.BroadcastTo(y, dims)},
                             [&](Operands o) { return LengthOf(l, o[0], o[1]); });
}
Op LogAddExp2Ops(Lowering& l, Op x, Op y) {
  const Op scale = N(l, x, std::numbers::ln2);
  return LogAddExpOps(l, x * scale, y * scale) / scale;
}
Op PolarOps(Lowering& l, Op x, Op y) {
  const Dims dims = lazy::BroadcastDims(l.dims(x), l.dims(y));
  return lazy::OwnDerivative(l, "polar", {l.BroadcastTo(x, dims), l.BroadcastTo(y, dims)}, [&](Operands o) {
    return l.b.Binary(hlo::kComplex, o[0] * l.b.Unary(hlo::kCosine, o[1]),
                      o[0] * l.b.Unary(hlo::kSine, o[1]));
  });
}

}  // namespace

Tensor Pow(const Operand& x, const Operand& y) {
  if (y.tensor() == nullptr && y.scalar().is_integer() && y.scalar().ToInt() < 0 && lazy::AreExact({x})) {
    const Operand operands[] = {x, y};
    lazy::Explain(lazy::ops::Pow, operands, y.caller(),
                  [] { Refuse("integers have no negative powers that are integers"); });
  }
  return Binary(lazy::ops::Pow, x, y, [](Lowering& l, Op x, Op y) { return PowOps(l, x, y); });
}
Tensor FloatPower(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::FloatPower, x, y, [](Lowering& l, Op x, Op y) { return FloatPowerOps(l, x, y); });
}
Tensor Remainder(const Operand& x, const Operand& y) {
  lazy::RequireDivisor(lazy::ops::Remainder, x, y);
  return Binary(lazy::ops::Remainder, x, y, [](Lowering& l, Op x, Op y) { return RemainderOps(l, x, y); });
}
Tensor Fmod(const Operand& x, const Operand& y) {
  lazy::RequireDivisor(lazy::ops::Fmod, x, y);
  return Binary(lazy::ops::Fmod, x, y, [](Lowering& l, Op x, Op y) {
    lazy::RequireNoZeros(l, y);
    return Broadcasted(l, hlo::kRemainder, x, y);
  });
}
Tensor FloorDivide(const Operand& x, const Operand& y) {
  lazy::RequireDivisor(lazy::ops::FloorDivide, x, y);
  return Binary(lazy::ops::FloorDivide, x, y,
                [](Lowering& l, Op x, Op y) { return FloorDivideOps(l, x, y); });
}
Tensor TruncDivide(const Operand& x, const Operand& y) {
  lazy::RequireDivisor(lazy::ops::TruncDivide, x, y);
  return Binary(lazy::ops::TruncDivide, x, y, [](Lowering& l, Op x, Op y) {
    lazy::RequireNoZeros(l, y);
    return TruncOps(l, DivOps(l, x, y));
  });
}
Tensor Atan2(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Atan2, x, y,
                [](Lowering& l, Op x, Op y) { return Broadcasted(l, hlo::kAtan2, x, y); });
}
Tensor Maximum(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Maximum, x, y,
                [](Lowering& l, Op x, Op y) { return Broadcasted(l, hlo::kMaximum, x, y); });
}
Tensor Minimum(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Minimum, x, y,
                [](Lowering& l, Op x, Op y) { return Broadcasted(l, hlo::kMinimum, x, y); });
}
Tensor Fmax(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Fmax, x, y,
                [](Lowering& l, Op x, Op y) { return WithoutNan(l, Order::kGe, x, y); });
}
Tensor Fmin(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Fmin, x, y,
                [](Lowering& l, Op x, Op y) { return WithoutNan(l, Order::kLe, x, y); });
}
Tensor Heaviside(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Heaviside, x, y, [](Lowering& l, Op x, Op y) { return HeavisideOps(l, x, y); });
}
Tensor Copysign(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Copysign, x, y, [](Lowering& l, Op x, Op y) { return CopysignOps(l, x, y); });
}
Tensor Hypot(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Hypot, x, y, [](Lowering& l, Op x, Op y) { return HypotOps(l, x, y); });
}
Tensor Logaddexp(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Logaddexp, x, y, [](Lowering& l, Op x, Op y) { return LogAddExpOps(l, x, y); });
}
Tensor Logaddexp2(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Logaddexp2, x, y, [](Lowering& l, Op x, Op y) { return LogAddExp2Ops(l, x, y); });
}
Tensor Xlogy(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Xlogy, x, y,
                [](Lowering& l, Op x, Op y) { return lazy::XLogOps(l, x, y, hlo::kLog); });
}
Tensor Complex(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Complex, x, y,
                [](Lowering& l, Op x, Op y) { return Broadcasted(l, hlo::kComplex, x, y); });
}
Tensor Polar(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Polar, x, y, [](Lowering& l, Op x, Op y) { return PolarOps(l, x, y); });
}

Tensor Div(const Operand& x, const Operand& y, Rounding rounding) {
  switch (rounding) {
    case Rounding::kTrunc: return TruncDivide(x, y);
    case Rounding::kFloor: return FloorDivide(x, y);
    case Rounding::kNone: break;
  }
  return Div(x, y);
}

Tensor Clamp(const Operand& x, std::optional<Operand> min, std::optional<Operand> max) {
  std::vector<Operand> operands = {x};
  // A number that became an Operand inside of std::optional has a line of that header, not the caller's.
  for (std::optional<Operand>* const bound : {&min, &max}) {
    if (bound->has_value() && (*bound)->tensor() == nullptr) *bound = Operand((*bound)->scalar(), x.caller());
  }
  // A fractional bound promotes the result to a floating type; an integer bound must fit x's type.
  for (const std::optional<Operand>& bound : {min, max}) {
    const bool exact = bound.has_value() && bound->tensor() == nullptr && lazy::AreExact({*bound});
    if (exact && lazy::AreExact({x}) && x.tensor() != nullptr)
      lazy::RequireFits(lazy::ops::Clamp, x.tensor()->dtype(), *bound);
  }
  if (min.has_value()) operands.push_back(*min);
  if (max.has_value()) operands.push_back(*max);
  return lazy::Call(lazy::ops::Clamp, operands, [&](Lowering& l, Operands o) {
    if (o.size() == 1) Refuse("either a minimum or a maximum must be given");
    Op result = o[0];
    // An element that equals a bound is passed through, so that its gradient is 1; NaN has the gradient 0.
    const auto bounded = [&](Op bound, Order inside, Order outside) {
      Op otherwise = bound;
      if (hlo::IsFloat(l.type(result))) {
        const Op nan = N(l, result, std::numeric_limits<double>::quiet_NaN());
        otherwise = SelectOps(l, CompareOps(l, result, bound, outside), bound, nan);
      }
      result = SelectOps(l, CompareOps(l, result, bound, inside), result, otherwise);
    };
    if (min.has_value()) bounded(o[1], Order::kGe, Order::kLt);
    if (max.has_value()) bounded(o[o.size() - 1], Order::kLe, Order::kGt);
    return result;
  });
}

Tensor ClampMin(const Operand& x, const Operand& min) { return Clamp(x, min); }
Tensor ClampMax(const Operand& x, const Operand& max) { return Clamp(x, {}, max); }

Tensor Rsub(const Operand& x, const Operand& y, Scalar alpha) { return Sub(y, x, alpha); }

// For promotion the condition is a pred, which does not change other types; converting it back is exact.
Tensor Where(const Operand& condition, const Operand& x, const Operand& y) {
  return lazy::Call(lazy::ops::Where, {condition, x, y}, [&](Lowering& l, Operands o) {
    for (const Operand* const number : {&x, &y}) {
      if (number->tensor() == nullptr) lazy::RequireFits(l.type(o[1]), number->scalar());
    }
    if (condition.tensor() != nullptr && condition.tensor()->dtype() != hlo::kPred) {
      Refuse("the condition is %s, not pred", hlo::Name(condition.tensor()->dtype()));
    }
    return SelectOps(l, l.Convert(o[0], hlo::kPred), o[1], o[2]);
  });
}

// Interpolates from the nearer end, so that weights of 0 and 1 return the ends exactly.
Tensor Lerp(const Operand& start, const Operand& end, const Operand& weight) {
  return lazy::Call(lazy::ops::Lerp, {start, end, weight}, [](Lowering& l, Operands o) {
    const Op difference = lazy::SubOps(l, o[1], o[0]);
    const Op from_start = lazy::AddOps(l, o[0], lazy::MulOps(l, o[2], difference));
    const Op from_end = lazy::SubOps(l, o[1], lazy::MulOps(l, difference, N(l, o[2], 1) - o[2]));
    const Op size = hlo::IsComplex(l.type(o[2])) ? l.b.Unary(hlo::kAbs, o[2]) : o[2];
    return SelectOps(l, CompareOps(l, size, 0.5, Order::kLt), from_start, from_end);
  });
}

namespace {

// Returns x + value (a op b), computed in PyTorch's order: (value a) op b.
template <typename F>
Tensor AddScaled(const lazy::Operation& operation, const Operand& x, const Operand& a, const Operand& b,
                 const Scalar& value, F op) {
  const bool constant = lazy::IsOne(value) || lazy::AreExact({x, a, b});
  const auto lower = [&](Lowering& l, Operands o) {
    const Op factor = constant ? l.Setting(l.type(o[0]), value, "value") : o[3];
    return lazy::AddOps(l, o[0], op(l, lazy::IsOne(value) ? o[1] : lazy::MulOps(l, o[1], factor), o[2]));
  };
  if (constant) return lazy::Call(operation, {x, a, b}, lower);
  return lazy::Call(operation, {x, a, b, Operand(value, a.caller())}, lower);
}

}  // namespace

Tensor Addcmul(const Operand& x, const Operand& a, const Operand& b, Scalar value) {
  return AddScaled(lazy::ops::Addcmul, x, a, b, value, lazy::MulOps);
}
Tensor Addcdiv(const Operand& x, const Operand& a, const Operand& b, Scalar value) {
  return AddScaled(lazy::ops::Addcdiv, x, a, b, value, [](Lowering& l, Op a, Op b) {
    if (!hlo::IsFloat(l.type(a)) && !hlo::IsComplex(l.type(a))) {
      Refuse("a quotient of integers cannot be added: convert one to a floating type");
    }
    return DivOps(l, a, b);
  });
}

}  // namespace hlod
