// Arithmetic on the values of a builder in the notation of formulas: a number is converted to the type and
// dimensions of the value beside it.
#pragma once

#include "absl/types/span.h"
#include "common/hlo/builder.h"

namespace hlod::hlo {

// Returns a scalar of x's floating-point type.
inline Op NumberLike(Op x, double value) {
  Builder& b = *x.builder;
  switch (const PrimitiveType type = b.shape(x).type) {
    case kF32: return b.Constant(Literal::Scalar(static_cast<float>(value)));
    case kF64: return b.Constant(Literal::Scalar(value));
    default: return b.Convert(b.Constant(Literal::Scalar(value)), type);
  }
}

inline Op operator+(Op x, double y) { return x + NumberLike(x, y); }
inline Op operator-(Op x, double y) { return x - NumberLike(x, y); }
inline Op operator*(Op x, double y) { return x * NumberLike(x, y); }
inline Op operator/(Op x, double y) { return x / NumberLike(x, y); }
inline Op operator+(double x, Op y) { return NumberLike(y, x) + y; }
inline Op operator-(double x, Op y) { return NumberLike(y, x) - y; }
inline Op operator*(double x, Op y) { return NumberLike(y, x) * y; }
inline Op operator/(double x, Op y) { return NumberLike(y, x) / y; }

inline Op Abs(Op x) { return x.builder->Unary(kAbs, x); }
inline Op Cos(Op x) { return x.builder->Unary(kCosine, x); }
inline Op Exp(Op x) { return x.builder->Unary(kExponential, x); }
inline Op Floor(Op x) { return x.builder->Unary(kFloor, x); }
inline Op IsFinite(Op x) { return x.builder->Unary(kIsFinite, x); }
inline Op Log(Op x) { return x.builder->Unary(kLog, x); }
inline Op Log1p(Op x) { return x.builder->Unary(kLogPlusOne, x); }
inline Op Negative(Op x) { return x.builder->Unary(kNegate, x); }
inline Op Sign(Op x) { return x.builder->Unary(kSign, x); }
inline Op Sin(Op x) { return x.builder->Unary(kSine, x); }
inline Op Sqrt(Op x) { return x.builder->Unary(kSqrt, x); }
inline Op Power(Op x, Op y) { return x.builder->Binary(kPower, x, y); }
inline Op Remainder(Op x, double y) { return x.builder->Binary(kRemainder, x, NumberLike(x, y)); }

inline Op Is(Op x, ComparisonDirection order, Op y) { return x.builder->Compare(x, y, order); }
inline Op Is(Op x, ComparisonDirection order, double y) { return Is(x, order, NumberLike(x, y)); }
inline Op IsWhole(Op x) { return Is(x, ComparisonDirection::kEq, Floor(x)); }
inline Op And(Op x, Op y) { return x.builder->Binary(kAnd, x, y); }
inline Op Or(Op x, Op y) { return x.builder->Binary(kOr, x, y); }
inline Op Not(Op x) { return x.builder->Unary(kNot, x); }
inline Op Where(Op pred, Op x, Op y) { return pred.builder->Select(pred, x, y); }
inline Op Where(Op pred, double x, Op y) { return Where(pred, NumberLike(y, x), y); }

// Returns the polynomial of x with these coefficients, from the highest power down.
inline Op Horner(Op x, absl::Span<const double> coefficients) {
  Op sum = NumberLike(x, coefficients[0]);
  for (const double coefficient : coefficients.subspan(1)) sum = sum * x + coefficient;
  return sum;
}

}  // namespace hlod::hlo
