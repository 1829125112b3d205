// Comparisons, logic and bits of each element.
#pragma once

#include "hlod/tensor/tensor.h"

namespace hlod {

Tensor Isnan(const Operand& x);                               // Whether it is NaN.
Tensor Isfinite(const Operand& x);                            // Whether it is neither infinite nor NaN.
Tensor Isinf(const Operand& x);                               // Whether it is infinite.
Tensor Isposinf(const Operand& x);                            // Whether it is positive infinity.
Tensor Isneginf(const Operand& x);                            // Whether it is negative infinity.
Tensor Isreal(const Operand& x);                              // Whether the imaginary part is zero.
Tensor Signbit(const Operand& x);                             // Whether the sign bit is set, also of -0.
Tensor BitwiseNot(const Operand& x);                          // Every bit inverted; of pred, not.
Tensor LogicalNot(const Operand& x);                          // Whether it is zero.
Tensor Eq(const Operand& x, const Operand& y);                // x == y
Tensor Ne(const Operand& x, const Operand& y);                // x != y
Tensor Lt(const Operand& x, const Operand& y);                // x < y
Tensor Le(const Operand& x, const Operand& y);                // x <= y
Tensor Gt(const Operand& x, const Operand& y);                // x > y
Tensor Ge(const Operand& x, const Operand& y);                // x >= y
Tensor LogicalAnd(const Operand& x, const Operand& y);        // whether both are not zero
Tensor LogicalOr(const Operand& x, const Operand& y);         // whether one is not zero
Tensor LogicalXor(const Operand& x, const Operand& y);        // whether exactly one is not zero
Tensor BitwiseAnd(const Operand& x, const Operand& y);        // and of integers' bits or of preds
Tensor BitwiseOr(const Operand& x, const Operand& y);         // or of integers' bits or of preds
Tensor BitwiseXor(const Operand& x, const Operand& y);        // exclusive or of integers' bits or of preds
Tensor BitwiseLeftShift(const Operand& x, const Operand& y);  // x shifted left by y bits
Tensor BitwiseRightShift(const Operand& x,
                         const Operand& y);  // x shifted right by y bits, signed as arithmetic
// Whether |x - y| <= atol + rtol |y|, or they are equal.
Tensor Isclose(const Operand& x, const Operand& y, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false);
// Whether all are. Reads the answer.
bool Allclose(const Operand& x, const Operand& y, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false);
// Whether shapes and all elements are equal. Reads the answer.
bool Equal(const Tensor& x, const Tensor& y, Caller caller = Caller::Here());

// Element by element, as in Python; there, ~ & | ^ are BitwiseNot and so on. To compare whole tensors:
// Equal().
inline Tensor operator==(const Operand& x, const Operand& y) { return Eq(x, y); }
inline Tensor operator!=(const Operand& x, const Operand& y) { return Ne(x, y); }
inline Tensor operator<(const Operand& x, const Operand& y) { return Lt(x, y); }
inline Tensor operator<=(const Operand& x, const Operand& y) { return Le(x, y); }
inline Tensor operator>(const Operand& x, const Operand& y) { return Gt(x, y); }
inline Tensor operator>=(const Operand& x, const Operand& y) { return Ge(x, y); }
inline Tensor operator~(const Operand& x) { return BitwiseNot(x); }
inline Tensor operator&(const Operand& x, const Operand& y) { return BitwiseAnd(x, y); }
inline Tensor operator|(const Operand& x, const Operand& y) { return BitwiseOr(x, y); }
inline Tensor operator^(const Operand& x, const Operand& y) { return BitwiseXor(x, y); }

}  // namespace hlod
