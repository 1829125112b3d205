// Lowerings that functions and updates in place share, and what elementwise lowerings are written with.
#pragma once

#include <type_traits>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

using Order = hlo::ComparisonDirection;

// The opcode on x and y, broadcast to one shape.
Op Broadcasted(Lowering& l, hlo::Opcode opcode, Op x, Op y);
Op AddOps(Lowering& l, Op x, Op y);
Op SubOps(Lowering& l, Op x, Op y);
Op MulOps(Lowering& l, Op x, Op y);
Op DivOps(Lowering& l, Op x, Op y);
// Whether all are integers or bools. A factor of other operands is one more operand: a number of the
// program's arguments, so that another one is the same program.
bool AreExact(std::initializer_list<Operand> operands);
inline bool IsOne(const Scalar& factor) { return factor == Scalar(1) || factor.ToComplex() == 1.0; }

// A number of x's type.
inline Op N(Lowering& l, Op x, const Scalar& value) { return l.Number(l.type(x), value); }
// The three broadcast to one shape; `pred` chooses.
Op SelectOps(Lowering& l, Op pred, Op x, Op y);
// x and y broadcast to one shape and compared.
Op CompareOps(Lowering& l, Op x, Op y, Order direction);
Op CompareOps(Lowering& l, Op x, double y, Order direction);
Op NanOps(Lowering& l, Op x);
// x between two numbers. At them its derivative is 1, as PyTorch's clamp has it; that of the opcode is 0.
Op ClampedOps(Lowering& l, Op x, double low, double high);
Op TruncOps(Lowering& l, Op x);     // Towards zero; integers stay.
Op SignBitOps(Lowering& l, Op x);   // Of a float its bit, so also of -0.
Op SoftplusOps(Lowering& l, Op x);  // log(1 + exp(x)) without overflow.
Op LogAddExpOps(Lowering& l, Op x, Op y);

// Types of 16 bits and fewer are computed in f32 and rounded once, as PyTorch does.
PrimitiveType WideType(PrimitiveType type);
template <typename F>
Op InWide(Lowering& l, Op x, F lower) {
  return l.Convert(lower(l, l.Convert(x, WideType(l.type(x)))), l.type(x));
}
// Computed in f64: for functions whose approximation loses digits.
template <typename F>
Op InDouble(Lowering& l, Op x, F lower) {
  return l.Convert(lower(l, l.Convert(x, hlo::kF64)), l.type(x));
}

// Calls of one and of two operands. A lowering that captures nothing, or is a function, depends on their
// shapes alone.
template <typename F>
Tensor CallWith(const Operation& operation, std::initializer_list<const Operand*> operands, F lower,
                LowerOne lower_all) {
  static const char kName = 0;
  if constexpr (std::is_empty_v<F>) return CallByShape(operation, &kName, operands, lower_all);
  else if constexpr (std::is_pointer_v<F>)
    return CallByShape(operation, reinterpret_cast<const void*>(lower), operands, lower_all);
  else return Call(operation, Copies(operands), lower_all);
}
template <typename F>
Tensor Unary(const Operation& operation, const Operand& x, F lower) {
  return CallWith(operation, {&x}, lower, [&](Lowering& l, Operands o) { return lower(l, o[0]); });
}
template <typename F>
Tensor Binary(const Operation& operation, const Operand& x, const Operand& y, F lower) {
  return CallWith(operation, {&x, &y}, lower, [&](Lowering& l, Operands o) { return lower(l, o[0], o[1]); });
}

}  // namespace hlod::lazy
