// Lowerings that functions and in-place updates share, and helpers for elementwise lowerings.
#pragma once

#include <type_traits>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

using Order = hlo::ComparisonDirection;

// Applies the opcode to x and y, broadcast to one shape.
Op Broadcasted(Lowering& l, hlo::Opcode opcode, Op x, Op y);
Op AddOps(Lowering& l, Op x, Op y);
Op SubOps(Lowering& l, Op x, Op y);
Op MulOps(Lowering& l, Op x, Op y);
Op DivOps(Lowering& l, Op x, Op y);
// Returns true when all operands are integers or bools. For other types a scalar factor becomes a program
// argument, so that another factor runs the same program.
bool AreExact(std::initializer_list<Operand> operands);
inline bool IsOne(const Scalar& factor) { return factor == Scalar(1) || factor.ToComplex() == 1.0; }

// Returns the number `value` in x's type.
inline Op N(Lowering& l, Op x, const Scalar& value) { return l.Number(l.type(x), value); }
// Returns x where `pred` is true, otherwise y; the three are broadcast to one shape.
Op SelectOps(Lowering& l, Op pred, Op x, Op y);
// Compares x and y, broadcast to one shape.
Op CompareOps(Lowering& l, Op x, Op y, Order direction);
Op CompareOps(Lowering& l, Op x, double y, Order direction);
Op NanOps(Lowering& l, Op x);
// Clamps x to [low, high]. The derivative at the bounds is 1, as for PyTorch's clamp; that of the opcode is
// 0.
Op ClampedOps(Lowering& l, Op x, Op low, Op high);
Op TruncOps(Lowering& l, Op x);    // Rounds towards zero; integers are unchanged.
Op SignBitOps(Lowering& l, Op x);  // True where x is negative; for floats it is the sign bit, so true for -0.
// Returns |x|^2, a real number. Not computed from |x|, whose second derivative at 0 is lost.
Op SquaredSizeOps(Lowering& l, Op x);
Op SoftplusOps(Lowering& l, Op x);  // Returns log(1 + exp(x)) without overflow.
Op LogAddExpOps(Lowering& l, Op x, Op y);

// Returns the type in which `type` is computed: f32 for floating types of 16 bits or less, which are then
// rounded once, as in PyTorch.
PrimitiveType WideType(PrimitiveType type);
template <typename F>
Op InWide(Lowering& l, Op x, F lower) {
  return l.Convert(lower(l, l.Convert(x, WideType(l.type(x)))), l.type(x));
}
// Computes `lower` in f64, for functions whose approximation loses digits in narrower types.
template <typename F>
Op InDouble(Lowering& l, Op x, F lower) {
  return l.Convert(lower(l, l.Convert(x, hlo::kF64)), l.type(x));
}

// Calls for one and for two operands. A lowering without captures, or a plain function, depends only on the
// operands' shapes, so its trace is cached by shape.
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
