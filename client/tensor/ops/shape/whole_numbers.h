// What PyTorch refuses of numbers, and C++ would compute: divisions of integers by zero, numbers that do not
// fit a type.
#pragma once

#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/dispatch/operation.h"
#include "hlod/tensor/operand.h"

namespace hlod::lazy {

// Throws where one is a bool, which PyTorch does not subtract.
void RefuseBools(const Operation& operation, const Operand& x, const Operand& y);
// Throws where x is of integers and the divisor y is the number 0. What tensors hold is seen on the host
// only.
void RequireDivisor(const Operation& operation, const Operand& x, const Operand& y);
// The same of a tensor of integers on the host, in a lowering.
void RequireNoZeros(Lowering& l, Op divisor);

// Whether a number fits a type as PyTorch converts it: within its range, whole or not; a negative number
// wraps round in an unsigned type, unless its size does not fit. Infinities and NaN are of floating types.
bool Fits(PrimitiveType type, const Scalar& number);
// Refuses a number that does not fit. Tensors pass.
void RequireFits(PrimitiveType type, const Scalar& number);
void RequireFits(const Operation& operation, PrimitiveType type, const Operand& value);

}  // namespace hlod::lazy
