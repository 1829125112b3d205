// Comparisons, and logic and bit operations, of each element.
#pragma once

#include "hlod/tensor/tensor.h"

namespace hlod {

Tensor Isnan(const Operand& x);                               // True where x is NaN.
Tensor Isfinite(const Operand& x);                            // True where x is neither infinite nor NaN.
Tensor Isinf(const Operand& x);                               // True where x is infinite.
Tensor Isposinf(const Operand& x);                            // True where x is positive infinity.
Tensor Isneginf(const Operand& x);                            // True where x is negative infinity.
Tensor Isreal(const Operand& x);                              // True where the imaginary part is zero.
Tensor Signbit(const Operand& x);                             // True where the sign bit is set, also of -0.
Tensor BitwiseNot(const Operand& x);                          // Inverts every bit; for pred it is "not".
Tensor LogicalNot(const Operand& x);                          // True where x is zero.
Tensor Eq(const Operand& x, const Operand& y);                // x == y
Tensor Ne(const Operand& x, const Operand& y);                // x != y
Tensor Lt(const Operand& x, const Operand& y);                // x < y
Tensor Le(const Operand& x, const Operand& y);                // x <= y
Tensor Gt(const Operand& x, const Operand& y);                // x > y
Tensor Ge(const Operand& x, const Operand& y);                // x >= y
Tensor LogicalAnd(const Operand& x, const Operand& y);        // true where both are not zero
Tensor LogicalOr(const Operand& x, const Operand& y);         // true where one is not zero
Tensor LogicalXor(const Operand& x, const Operand& y);        // true where exactly one is not zero
Tensor BitwiseAnd(const Operand& x, const Operand& y);        // and of integers' bits or of preds
Tensor BitwiseOr(const Operand& x, const Operand& y);         // or of integers' bits or of preds
Tensor BitwiseXor(const Operand& x, const Operand& y);        // exclusive or of integers' bits or of preds
Tensor BitwiseLeftShift(const Operand& x, const Operand& y);  // x shifted left by y bits
Tensor BitwiseRightShift(const Operand& x,
                         const Operand& y);  // x shifted right by y bits, signed as arithmetic
// True where |x - y| <= atol + rtol |y|, or they are equal.
Tensor Isclose(const Operand& x, const Operand& y, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false);
// True when Isclose() holds for all elements. Reads the answer.
bool Allclose(const Operand& x, const Operand& y, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false);
// True when shapes and all elements are equal. Reads the answer.
bool Equal(const Tensor& x, const Tensor& y, Caller caller = Caller::Here());

// Compare element by element, as in Python; Python's ~ & | ^ are BitwiseNot and so on. Equal() compares whole
// tensors.
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
