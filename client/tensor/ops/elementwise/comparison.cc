// Comparisons, logic and bits.
#include "hlod/ops/comparison.h"

#include <limits>

#include "client/tensor/ops/elementwise/elementwise.h"

namespace hlod {

using lazy::Lowering;
using lazy::Op;

namespace {

using lazy::Binary;
using lazy::CompareOps;
using lazy::NanOps;
using lazy::Order;
using lazy::Refuse;
using lazy::SignBitOps;
using lazy::Unary;

bool IsInexact(PrimitiveType type) { return hlo::IsFloat(type) || hlo::IsComplex(type); }

Op BothParts(Lowering& l, Op x, hlo::Opcode join, Op (*test)(Lowering&, Op)) {
  return l.b.Binary(join, test(l, l.b.Unary(hlo::kReal, x)), test(l, l.b.Unary(hlo::kImag, x)));
}
Op FiniteOps(Lowering& l, Op x) {
  if (!IsInexact(l.type(x))) return l.Full(hlo::kPred, l.dims(x), true);
  if (hlo::IsComplex(l.type(x))) return BothParts(l, x, hlo::kAnd, FiniteOps);
  return l.b.Unary(hlo::kIsFinite, x);
}
Op InfOps(Lowering& l, Op x) {
  if (!IsInexact(l.type(x))) return l.Full(hlo::kPred, l.dims(x), false);
  if (hlo::IsComplex(l.type(x))) return BothParts(l, x, hlo::kOr, InfOps);
  return CompareOps(l, l.b.Unary(hlo::kAbs, x), std::numeric_limits<double>::infinity(), Order::kEq);
}
Op SignedInfOps(Lowering& l, Op x, int sign) {
  if (hlo::IsComplex(l.type(x))) Refuse("complex numbers have no sign");
  if (!IsInexact(l.type(x))) return l.Full(hlo::kPred, l.dims(x), false);
  return CompareOps(l, x, sign * std::numeric_limits<double>::infinity(), Order::kEq);
}
Op BitwiseNotOps(Lowering& l, Op x) {
  if (IsInexact(l.type(x))) Refuse("%s has no bits to work on: take integers or bools", hlo::Name(l.type(x)));
  return l.b.Unary(hlo::kNot, x);
}
Op BitsOps(Lowering& l, Op x, Op y, hlo::Opcode opcode) {
  if (IsInexact(l.type(x))) Refuse("%s has no bits to work on: take integers or bools", hlo::Name(l.type(x)));
  return lazy::Broadcasted(l, opcode, x, y);
}
Op LogicalOps(Lowering& l, Op x, Op y, hlo::Opcode opcode) {
  return lazy::Broadcasted(l, opcode, l.Convert(x, hlo::kPred), l.Convert(y, hlo::kPred));
}

// Returns |x - y| <= atol + rtol |y|, or true where x and y are equal.
Op CloseOps(Lowering& l, Op x, Op y, double rtol, double atol, bool equal_nan) {
  Op close = CompareOps(l, x, y, Order::kEq);
  const bool is_complex = hlo::IsComplex(l.type(x));
  if (IsInexact(l.type(x)) || rtol != 0 || atol != 0) {
    const PrimitiveType type = IsInexact(l.type(x)) ? l.type(x) : hlo::kF64;
    const Op a = l.Convert(x, type), b = l.Convert(y, type);
    const Op size = l.b.Unary(hlo::kAbs, b);
    const PrimitiveType real = l.type(size);
    const Op allowed = size * l.Setting(real, rtol, "rtol") + l.Setting(real, atol, "atol");
    const Op error = l.b.Unary(hlo::kAbs, lazy::SubOps(l, a, b));
    const Op near = l.b.Binary(hlo::kAnd, CompareOps(l, error, allowed, Order::kLe),
                               l.BroadcastTo(FiniteOps(l, error), l.dims(error)));
    close = l.b.Binary(hlo::kOr, close, near);
  }
  if (equal_nan && (is_complex || IsInexact(l.type(x)))) {
    close = l.b.Binary(hlo::kOr, close, lazy::Broadcasted(l, hlo::kAnd, NanOps(l, x), NanOps(l, y)));
  }
  return close;
}

}  // namespace

Tensor Isnan(const Operand& x) {
  return Unary(lazy::ops::Isnan, x, [](Lowering& l, Op x) { return NanOps(l, x); });
}
Tensor Isfinite(const Operand& x) {
  return Unary(lazy::ops::Isfinite, x, [](Lowering& l, Op x) { return FiniteOps(l, x); });
}
Tensor Isinf(const Operand& x) {
  return Unary(lazy::ops::Isinf, x, [](Lowering& l, Op x) { return InfOps(l, x); });
}
Tensor Isposinf(const Operand& x) {
  return Unary(lazy::ops::Isposinf, x, [](Lowering& l, Op x) { return SignedInfOps(l, x, 1); });
}
Tensor Isneginf(const Operand& x) {
  return Unary(lazy::ops::Isneginf, x, [](Lowering& l, Op x) { return SignedInfOps(l, x, -1); });
}
Tensor Isreal(const Operand& x) {
  return Unary(lazy::ops::Isreal, x, [](Lowering& l, Op x) {
    if (!hlo::IsComplex(l.type(x))) return l.Full(hlo::kPred, l.dims(x), true);
    return CompareOps(l, l.b.Unary(hlo::kImag, x), 0, Order::kEq);
  });
}
Tensor Signbit(const Operand& x) {
  return Unary(lazy::ops::Signbit, x, [](Lowering& l, Op x) { return SignBitOps(l, x); });
}
Tensor BitwiseNot(const Operand& x) {
  return Unary(lazy::ops::BitwiseNot, x, [](Lowering& l, Op x) { return BitwiseNotOps(l, x); });
}
Tensor LogicalNot(const Operand& x) {
  return Unary(lazy::ops::LogicalNot, x,
               [](Lowering& l, Op x) { return l.b.Unary(hlo::kNot, l.Convert(x, hlo::kPred)); });
}
Tensor Eq(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Eq, x, y, [](Lowering& l, Op x, Op y) { return CompareOps(l, x, y, Order::kEq); });
}
Tensor Ne(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Ne, x, y, [](Lowering& l, Op x, Op y) { return CompareOps(l, x, y, Order::kNe); });
}
Tensor Lt(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Lt, x, y, [](Lowering& l, Op x, Op y) { return CompareOps(l, x, y, Order::kLt); });
}
Tensor Le(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Le, x, y, [](Lowering& l, Op x, Op y) { return CompareOps(l, x, y, Order::kLe); });
}
Tensor Gt(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Gt, x, y, [](Lowering& l, Op x, Op y) { return CompareOps(l, x, y, Order::kGt); });
}
Tensor Ge(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::Ge, x, y, [](Lowering& l, Op x, Op y) { return CompareOps(l, x, y, Order::kGe); });
}
Tensor LogicalAnd(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::LogicalAnd, x, y,
                [](Lowering& l, Op x, Op y) { return LogicalOps(l, x, y, hlo::kAnd); });
}
Tensor LogicalOr(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::LogicalOr, x, y,
                [](Lowering& l, Op x, Op y) { return LogicalOps(l, x, y, hlo::kOr); });
}
Tensor LogicalXor(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::LogicalXor, x, y,
                [](Lowering& l, Op x, Op y) { return LogicalOps(l, x, y, hlo::kXor); });
}
Tensor BitwiseAnd(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::BitwiseAnd, x, y,
                [](Lowering& l, Op x, Op y) { return BitsOps(l, x, y, hlo::kAnd); });
}
Tensor BitwiseOr(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::BitwiseOr, x, y,
                [](Lowering& l, Op x, Op y) { return BitsOps(l, x, y, hlo::kOr); });
}
Tensor BitwiseXor(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::BitwiseXor, x, y,
                [](Lowering& l, Op x, Op y) { return BitsOps(l, x, y, hlo::kXor); });
}
Tensor BitwiseLeftShift(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::BitwiseLeftShift, x, y,
                [](Lowering& l, Op x, Op y) { return BitsOps(l, x, y, hlo::kShiftLeft); });
}
Tensor BitwiseRightShift(const Operand& x, const Operand& y) {
  return Binary(lazy::ops::BitwiseRightShift, x, y, [](Lowering& l, Op x, Op y) {
    return BitsOps(l, x, y, hlo::IsSigned(l.type(x)) ? hlo::kShiftRightArithmetic : hlo::kShiftRightLogical);
  });
}

Tensor Isclose(const Operand& x, const Operand& y, double rtol, double atol, bool equal_nan) {
  return Binary(lazy::ops::Isclose, x, y,
                [&](Lowering& l, Op x, Op y) { return CloseOps(l, x, y, rtol, atol, equal_nan); });
}
bool Allclose(const Operand& x, const Operand& y, double rtol, double atol, bool equal_nan) {
  const Tensor all = Binary(lazy::ops::Allclose, x, y, [&](Lowering& l, Op x, Op y) {
    const Op close = CloseOps(l, x, y, rtol, atol, equal_nan);
    return l.Reduce(hlo::kAnd, close, lazy::WrapDims({}, static_cast<int64_t>(l.dims(close).size())));
  });
  return all.Item<bool>(x.caller());
}
bool Equal(const Tensor& x, const Tensor& y, Caller caller) {
  if (x.dims() != y.dims()) return false;
  const Tensor all =
      Binary(lazy::ops::Equal, Operand(x, caller), Operand(y, caller), [&](Lowering& l, Op x, Op y) {
        const Op same = CompareOps(l, x, y, Order::kEq);
        return l.Reduce(hlo::kAnd, same, lazy::WrapDims({}, static_cast<int64_t>(l.dims(same).size())));
      });
  return all.Item<bool>(caller);
}

}  // namespace hlod
