// Functions of the bits of floating-point numbers: exponents and neighbours.
#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "hlod/ops/math.h"

namespace hlod {

using lazy::Broadcasted;
using lazy::CompareOps;
using lazy::Lowering;
using lazy::N;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;
using lazy::SelectOps;

namespace {

// The bit layout of a floating type. `bits` is the signed integer type of its width.
struct Layout {
  PrimitiveType bits;
  int mantissa;
  int64_t exponent_mask;  // The mask applies after shifting out the mantissa.
  int64_t bias;
};
Layout LayoutOf(PrimitiveType type) {
  switch (type) {
    case kF64: return {kS64, 52, 0x7ff, 1023};
    case kF32: return {kS32, 23, 0xff, 127};
    case kBF16: return {kS16, 7, 0xff, 127};
    case kF16: return {kS16, 10, 0x1f, 15};
    default: Refuse("%s is not f16, bf16, f32 or f64", hlo::Name(type));
  }
}
Op Bits(Lowering& l, Op x, PrimitiveType as) {
  const Shape shape = Shape::Array(as, l.dims(x));
  return l.b.Add(hlo::kBitcastConvert, {x}, hlo::NoAttributes{}, {}, &shape);
}

// Moves x towards y by one step of its bits, which count up away from zero.
Op NextAfterOps(Lowering& l, Op x, Op y) {
  const PrimitiveType type = l.type(x);
  const Layout layout = LayoutOf(type);
  const Dims dims = lazy::BroadcastDims(l.dims(x), l.dims(y));
  x = l.BroadcastTo(x, dims);
  y = l.BroadcastTo(y, dims);
  const Op zero = l.Full(type, dims, 0), bits = Bits(l, x, layout.bits), one = l.Full(layout.bits, dims, 1);
  const Op away = l.b.Compare(l.b.Compare(y, x, Order::kGt), l.b.Compare(x, zero, Order::kGt), Order::kEq);
  const Op stepped = l.b.Select(away, bits + one, bits - one);
  // The step from zero leads to the smallest subnormal of y's sign.
  const Op sign = l.b.Select(lazy::SignBitOps(l, y), Bits(l, l.Full(type, dims, -0.0), layout.bits),
                             l.Full(layout.bits, dims, 0));
  const Op least = l.b.Binary(hlo::kOr, sign, one);
  const Op next = Bits(l, l.b.Select(l.b.Compare(x, zero, Order::kEq), least, stepped), type);
  const Op nan = l.b.Binary(hlo::kOr, lazy::NanOps(l, x), lazy::NanOps(l, y));
  return l.b.Select(nan, x + y, l.b.Select(l.b.Compare(x, y, Order::kEq), y, next));
}

// Returns a mantissa in [0.5, 1) and an exponent. Subnormal numbers are scaled to normal ones first.
std::vector<Op> FrexpOps(Lowering& l, Op x) {
  const PrimitiveType type = l.type(x);
  if (!hlo::IsFloat(type)) Refuse("%s has no exponent", hlo::Name(type));
  x = l.Convert(x, lazy::WideType(type));
  const Layout layout = LayoutOf(l.type(x));
  const Dims dims = l.dims(x);
  const auto whole = [&](int64_t value) { return l.Full(layout.bits, dims, value); };
  const Op mask = whole(layout.exponent_mask << layout.mantissa);
  const auto field = [&](Op bits) {
    return l.b.Binary(hlo::kShiftRightLogical, l.b.Binary(hlo::kAnd, bits, mask), whole(layout.mantissa));
  };
  const int64_t scale = layout.mantissa + 1;
  const Op subnormal = CompareOps(l, field(Bits(l, x, layout.bits)), 0, Order::kEq);
  const Op grown = x * l.Full(l.type(x), dims, static_cast<double>(int64_t{1} << scale));
  const Op bits = Bits(l, l.b.Select(subnormal, grown, x), layout.bits);
  const Op shift = l.b.Select(subnormal, whole(layout.bias - 1 + scale), whole(layout.bias - 1));
  const Op exponent = l.Convert(field(bits) - shift, hlo::kS32);
  const Op kept = l.b.Binary(hlo::kAnd, bits, l.b.Unary(hlo::kNot, mask));
  const Op mantissa =
      Bits(l, l.b.Binary(hlo::kOr, kept, whole((layout.bias - 1) << layout.mantissa)), l.type(x));
  // Zero, infinities and NaN are their own mantissas.
  const Op finite = l.b.Add(hlo::kIsFinite, {x});
  const Op usual = l.b.Binary(hlo::kAnd, finite, CompareOps(l, x, 0, Order::kNe));
  return {l.Convert(l.b.Select(usual, mantissa, x), type),
          l.b.Select(usual, exponent, l.Full(hlo::kS32, dims, 0))};
}

}  // namespace

Tensor Nextafter(const Operand& x, const Operand& y) {
  return lazy::Binary(lazy::ops::Nextafter, x, y, NextAfterOps);
}
std::pair<Tensor, Tensor> Frexp(const Operand& x) {
  const std::vector<Tensor> both = lazy::CallSeveral(lazy::ops::Frexp, {x}, [](Lowering& l, Operands o) {
    return lazy::WithOwnDerivative(l, "frexp", {o[0]}, [&](Operands o) { return FrexpOps(l, o[0]); });
  });
  return {both[0], both[1]};
}
Tensor Ldexp(const Operand& x, const Operand& y) {
  const CallerScope scope(x.caller());
  return Mul(x, Operand(Pow(Operand(2.0, x.caller()), y), x.caller()));
}

}  // namespace hlod
