// Operations on each element: operands are broadcast to one shape, and promoted to one type, as PyTorch does.
#pragma once

#include "hlod/tensor/tensor.h"

namespace hlod {

Tensor Add(const Operand& x, const Operand& y, const Scalar& alpha = 1);  // x + alpha y
Tensor Sub(const Operand& x, const Operand& y, const Scalar& alpha = 1);  // x - alpha y
Tensor Mul(const Operand& x, const Operand& y);
Tensor Div(const Operand& x, const Operand& y);  // The quotient of integers is f32.
Tensor Neg(const Operand& x);
Tensor Exp(const Operand& x);
Tensor Sin(const Operand& x);
Tensor Tanh(const Operand& x);
Tensor Relu(const Operand& x);

inline Tensor operator+(const Operand& x, const Operand& y) { return Add(x, y); }
inline Tensor operator-(const Operand& x, const Operand& y) { return Sub(x, y); }
inline Tensor operator*(const Operand& x, const Operand& y) { return Mul(x, y); }
inline Tensor operator/(const Operand& x, const Operand& y) { return Div(x, y); }
inline Tensor operator-(const Operand& x) { return Neg(x); }

}  // namespace hlod
