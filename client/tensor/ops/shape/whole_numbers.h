// Checks for operations that PyTorch refuses and C++ would compute: integer division by zero, and numbers
// that do not fit a type, or an int64.
#pragma once

#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/dispatch/operation.h"
#include "hlod/tensor/operand.h"

namespace hlod::lazy {

// Throws when an operand is a bool, which PyTorch does not subtract.
void RefuseBools(const Operation& operation, const Operand& x, const Operand& y);
// Throws when x is of integers and the divisor y is the number 0. The elements of a tensor y are not checked
// here.
void RequireDivisor(const Operation& operation, const Operand& x, const Operand& y);
// Refuses an integer divisor whose value is known (a host tensor's) and contains a 0, in a lowering.
void RequireNoZeros(Lowering& l, Op divisor);

// Returns true when PyTorch would convert a number to the type: it is within the type's range, possibly after
// truncation. A negative number wraps around in an unsigned type, unless its absolute value does not fit.
// Infinities and NaN fit floating types only.
bool Fits(PrimitiveType type, const Scalar& number);
// Refuses a number that does not fit the type. Tensors always pass.
void RequireFits(PrimitiveType type, const Scalar& number);
void RequireFits(const Operation& operation, PrimitiveType type, const Operand& value);

// Returns the product of two numbers that are not negative; refuses one that does not fit an int64.
int64_t SizeTimes(int64_t size, int64_t times);

}  // namespace hlod::lazy
