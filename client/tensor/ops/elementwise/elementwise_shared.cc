// Helpers for writing elementwise lowerings.
#include <limits>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/elementwise/slopes.h"

namespace hlod::lazy {

Op SelectOps(Lowering& l, Op pred, Op x, Op y) {
  const Dims dims = BroadcastDims(l.dims(pred), BroadcastDims(l.dims(x), l.dims(y)));
  return l.b.Select(l.BroadcastTo(pred, dims), l.BroadcastTo(x, dims), l.BroadcastTo(y, dims));
}

Op CompareOps(Lowering& l, Op x, Op y, Order direction) {
  const bool order = direction != Order::kEq && direction != Order::kNe;
  if (order && hlo::IsComplex(l.type(x))) Refuse("complex numbers have no order");
  const Dims dims = BroadcastDims(l.dims(x), l.dims(y));
  return l.b.Compare(l.BroadcastTo(x, dims), l.BroadcastTo(y, dims), direction);
}
Op CompareOps(Lowering& l, Op x, double y, Order direction) {
  return CompareOps(l, x, N(l, x, y), direction);
}

Op NanOps(Lowering& l, Op x) {
  if (!hlo::IsFloat(l.type(x)) && !hlo::IsComplex(l.type(x))) return l.Full(hlo::kPred, l.dims(x), false);
  return l.b.Compare(x, x, Order::kNe);
}

Op ClampedOps(Lowering& l, Op x, Op low, Op high) {
  x = SelectOps(l, CompareOps(l, x, low, Order::kLt), low, x);
  return SelectOps(l, CompareOps(l, x, high, Order::kGt), high, x);
}

Op TruncOps(Lowering& l, Op x) {
  if (!hlo::IsFloat(l.type(x))) return x;
  return SelectOps(l, CompareOps(l, x, 0, Order::kLt), l.b.Unary(hlo::kCeil, x), l.b.Unary(hlo::kFloor, x));
}

Op SignBitOps(Lowering& l, Op x) {
  const PrimitiveType type = l.type(x);
  if (hlo::IsComplex(type)) Refuse("a complex number has no sign");
  if (!hlo::IsFloat(type)) {
    return hlo::IsSigned(type) ? CompareOps(l, x, 0, Order::kLt) : l.Full(hlo::kPred, l.dims(x), false);
  }
  const Op wide = l.Convert(x, WideType(type));
  const bool is_double = l.type(wide) == hlo::kF64;
  const Shape bits = Shape::Array(is_double ? hlo::kS64 : hlo::kS32, l.dims(x));
  return CompareOps(l, l.b.Add(hlo::kBitcastConvert, {wide}, hlo::NoAttributes{}, {}, &bits), 0, Order::kLt);
}

Op SquaredSizeOps(Lowering& l, Op x) {
  if (!hlo::IsComplex(l.type(x))) return x * x;
  const Op re = l.b.Unary(hlo::kReal, x), im = l.b.Unary(hlo::kImag, x);
  return re * re + im * im;
}

Op SoftplusOps(Lowering& l, Op x) { return LogAddExpOps(l, x, N(l, x, 0)); }

namespace {

Op LogAddExpValue(Lowering& l, Op x, Op y) {
  const Op larger = Broadcasted(l, hlo::kMaximum, x, y), smaller = Broadcasted(l, hlo::kMinimum, x, y);
  const Op sum = larger + l.b.Unary(hlo::kLogPlusOne, l.b.Unary(hlo::kExponential, smaller - larger));
  // The difference of two infinities of the same sign is NaN; the result is the larger operand.
  return SelectOps(
      l, CompareOps(l, l.b.Unary(hlo::kAbs, larger), std::numeric_limits<double>::infinity(), Order::kEq),
      larger, sum);
}

}  // namespace

Op LogAddExpOps(Lowering& l, Op x, Op y) {
  const Dims dims = BroadcastDims(l.dims(x), l.dims(y));
  return OwnDerivative(l, "log_add_exp", {l.BroadcastTo(x, dims), l.BroadcastTo(y, dims)},
                       [&](absl::Span<const Op> o) { return LogAddExpValue(l, o[0], o[1]); });
}

Op XLogOps(Lowering& l, Op x, Op y, hlo::Opcode log) {
  const Dims dims = BroadcastDims(l.dims(x), l.dims(y));
  const std::vector<Op> operands = {l.BroadcastTo(x, dims), l.BroadcastTo(y, dims)};
  return OwnDerivative(l, log == hlo::kLog ? "xlogy" : "xlog1py", operands, [&](absl::Span<const Op> o) {
    const Op zero = l.b.Binary(hlo::kAnd, CompareOps(l, o[0], N(l, x, 0), Order::kEq),
                               l.b.Unary(hlo::kNot, NanOps(l, o[1])));
    return SelectOps(l, zero, N(l, x, 0), o[0] * l.b.Unary(log, o[1]));
  });
}

Op RootOps(Lowering& l, Op x) {
  const Op zero = CompareOps(l, x, N(l, x, 0), Order::kEq);
  return SelectOps(l, zero, N(l, x, 0), l.b.Unary(hlo::kSqrt, SelectOps(l, zero, N(l, x, 1), x)));
}

PrimitiveType WideType(PrimitiveType type) {
  return hlo::IsFloat(type) && hlo::Info(type).bits < 32 ? hlo::kF32 : type;
}

}  // namespace hlod::lazy
