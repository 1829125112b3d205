// Elementwise operations.
#include "hlod/ops/elementwise.h"

#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/whole_numbers.h"

namespace hlod {

using lazy::Lowering;
using lazy::Op;
using lazy::Operands;

namespace lazy {

Op Broadcasted(Lowering& l, hlo::Opcode opcode, Op x, Op y) {
  RequireOrder(opcode, l.type(x));
  if (l.dims(x) == l.dims(y)) return l.b.Binary(opcode, x, y);
  const Dims dims = BroadcastDims(l.dims(x), l.dims(y));
  return l.b.Binary(opcode, l.BroadcastTo(x, dims), l.BroadcastTo(y, dims));
}

Op AddOps(Lowering& l, Op x, Op y) {
  // The sum of two bools is their "or", as in PyTorch.
  return Broadcasted(l, l.type(x) == hlo::kPred ? hlo::kOr : hlo::kAdd, x, y);
}
Op SubOps(Lowering& l, Op x, Op y) { return Broadcasted(l, hlo::kSubtract, x, y); }
bool AreExact(std::initializer_list<Operand> operands) {
  return std::all_of(operands.begin(), operands.end(), [](const Operand& x) {
    if (x.tensor() == nullptr) return x.scalar().is_integer() || x.scalar().is_bool();
    return x.tensor()->defined() && !hlo::IsFloat(x.tensor()->dtype()) &&
           !hlo::IsComplex(x.tensor()->dtype());
  });
}
Op MulOps(Lowering& l, Op x, Op y) {
  return Broadcasted(l, l.type(x) == hlo::kPred ? hlo::kAnd : hlo::kMultiply, x, y);
}
Op DivOps(Lowering& l, Op x, Op y) { return Broadcasted(l, hlo::kDivide, x, y); }

}  // namespace lazy

namespace {

// Returns x op (alpha y).
template <typename F>
Tensor Scaled(const lazy::Operation& operation, const Operand& x, const Operand& y, const Scalar& alpha,
              F op) {
  if (!lazy::AreExact({x, y})) {
    return lazy::Call(operation, {x, y, Operand(alpha, y.caller())},
                      [&](Lowering& l, Operands o) { return op(l, o[0], lazy::MulOps(l, o[1], o[2])); });
  }
  return lazy::Call(operation, {x, y}, [&](Lowering& l, Operands o) {
    const PrimitiveType type = l.type(o[1]);
    if (!alpha.is_integer() && !alpha.is_bool()) {
      lazy::Refuse("alpha (%g) must be an integer for tensors of type %s", alpha.ToDouble(), hlo::Name(type));
    }
    return op(l, o[0], l.b.Binary(hlo::kMultiply, o[1], l.Setting(type, alpha, "alpha")));
  });
}

Tensor Unary(const lazy::Operation& operation, const Operand& x, hlo::Opcode opcode) {
  return lazy::CallByShape(operation, nullptr, {&x},
                           [opcode](Lowering& l, Operands o) { return l.b.Unary(opcode, o[0]); });
}

}  // namespace

Tensor Add(const Operand& x, const Operand& y, const Scalar& alpha) {
  if (lazy::IsOne(alpha)) return lazy::Binary(lazy::ops::Add, x, y, lazy::AddOps);
  return Scaled(lazy::ops::Add, x, y, alpha, lazy::AddOps);
}
Tensor Sub(const Operand& x, const Operand& y, const Scalar& alpha) {
  lazy::RefuseBools(lazy::ops::Sub, x, y);
  if (lazy::IsOne(alpha)) return lazy::Binary(lazy::ops::Sub, x, y, lazy::SubOps);
  return Scaled(lazy::ops::Sub, x, y, alpha, lazy::SubOps);
}
Tensor Mul(const Operand& x, const Operand& y) { return lazy::Binary(lazy::ops::Mul, x, y, lazy::MulOps); }
Tensor Div(const Operand& x, const Operand& y) { return lazy::Binary(lazy::ops::Div, x, y, lazy::DivOps); }

Tensor Neg(const Operand& x) {
  return lazy::Call(lazy::ops::Neg, {x}, [](Lowering& l, Operands o) {
    if (l.type(o[0]) == hlo::kPred) lazy::Refuse("a bool has no negative; use LogicalNot()");
    return l.b.Unary(hlo::kNegate, o[0]);
  });
}
Tensor Exp(const Operand& x) { return Unary(lazy::ops::Exp, x, hlo::kExponential); }
Tensor Sin(const Operand& x) { return Unary(lazy::ops::Sin, x, hlo::kSine); }
Tensor Tanh(const Operand& x) { return Unary(lazy::ops::Tanh, x, hlo::kTanh); }
Tensor Relu(const Operand& x) {
  return lazy::Call(lazy::ops::Relu, {x}, [](Lowering& l, Operands o) {
    if (l.type(o[0]) == hlo::kPred) lazy::Refuse("a bool has no positive part");
    // Uses a select instead of a maximum, so that the gradient at 0 is 0.
    const Op zero = l.Number(l.type(o[0]), 0);
    return l.b.Select(l.b.Compare(o[0], zero, hlo::ComparisonDirection::kLe), zero, o[0]);
  });
}

}  // namespace hlod
