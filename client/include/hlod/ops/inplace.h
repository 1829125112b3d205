// Updates in place beside Tensor's own (Add_, Sub_, Mul_, Div_, Copy_, Fill_, Zero_) and those of
// hlod/ops/indexing.h. Each stores the result of the operation without the underscore in its first argument,
// and returns it. The result must have the argument's shape, and a type that converts to the argument's: a
// mean of integers cannot be stored in integers. Views see the update. Updates are recorded like any
// operation.
#pragma once

#include <optional>

#include "hlod/tensor/tensor.h"

namespace hlod {

Tensor& Abs_(Tensor& x, Caller caller = Caller::Here());
Tensor& Neg_(Tensor& x, Caller caller = Caller::Here());
Tensor& Sign_(Tensor& x, Caller caller = Caller::Here());
Tensor& Ceil_(Tensor& x, Caller caller = Caller::Here());
Tensor& Floor_(Tensor& x, Caller caller = Caller::Here());
Tensor& Trunc_(Tensor& x, Caller caller = Caller::Here());
Tensor& Frac_(Tensor& x, Caller caller = Caller::Here());
Tensor& Round_(Tensor& x, int64_t decimals = 0, Caller caller = Caller::Here());
Tensor& Exp_(Tensor& x, Caller caller = Caller::Here());
Tensor& Exp2_(Tensor& x, Caller caller = Caller::Here());
Tensor& Expm1_(Tensor& x, Caller caller = Caller::Here());
Tensor& Log_(Tensor& x, Caller caller = Caller::Here());
Tensor& Log2_(Tensor& x, Caller caller = Caller::Here());
Tensor& Log10_(Tensor& x, Caller caller = Caller::Here());
Tensor& Log1p_(Tensor& x, Caller caller = Caller::Here());
Tensor& Sqrt_(Tensor& x, Caller caller = Caller::Here());
Tensor& Rsqrt_(Tensor& x, Caller caller = Caller::Here());
Tensor& Reciprocal_(Tensor& x, Caller caller = Caller::Here());
Tensor& Square_(Tensor& x, Caller caller = Caller::Here());
Tensor& Sin_(Tensor& x, Caller caller = Caller::Here());
Tensor& Cos_(Tensor& x, Caller caller = Caller::Here());
Tensor& Tan_(Tensor& x, Caller caller = Caller::Here());
Tensor& Sinh_(Tensor& x, Caller caller = Caller::Here());
Tensor& Cosh_(Tensor& x, Caller caller = Caller::Here());
Tensor& Tanh_(Tensor& x, Caller caller = Caller::Here());
Tensor& Asin_(Tensor& x, Caller caller = Caller::Here());
Tensor& Acos_(Tensor& x, Caller caller = Caller::Here());
Tensor& Atan_(Tensor& x, Caller caller = Caller::Here());
Tensor& Sigmoid_(Tensor& x, Caller caller = Caller::Here());
Tensor& Erf_(Tensor& x, Caller caller = Caller::Here());
Tensor& Erfc_(Tensor& x, Caller caller = Caller::Here());
Tensor& Erfinv_(Tensor& x, Caller caller = Caller::Here());
Tensor& Lgamma_(Tensor& x, Caller caller = Caller::Here());
Tensor& Digamma_(Tensor& x, Caller caller = Caller::Here());
Tensor& NanToNum_(Tensor& x, double nan = 0, std::optional<double> posinf = {},
                  std::optional<double> neginf = {}, Caller caller = Caller::Here());

Tensor& Pow_(Tensor& x, const Operand& y);
Tensor& Remainder_(Tensor& x, const Operand& y);
Tensor& Fmod_(Tensor& x, const Operand& y);
Tensor& FloorDivide_(Tensor& x, const Operand& y);
Tensor& Atan2_(Tensor& x, const Operand& y);
Tensor& Clamp_(Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max = {},
               Caller caller = Caller::Here());
Tensor& ClampMin_(Tensor& x, const Operand& min);
Tensor& ClampMax_(Tensor& x, const Operand& max);
Tensor& Lerp_(Tensor& x, const Operand& end, const Operand& weight);
Tensor& Addcmul_(Tensor& x, const Operand& a, const Operand& b, Scalar value = 1);
Tensor& Addcdiv_(Tensor& x, const Operand& a, const Operand& b, Scalar value = 1);
Tensor& Addmm_(Tensor& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);
Tensor& Addmv_(Tensor& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);
Tensor& Addr_(Tensor& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);
Tensor& Baddbmm_(Tensor& x, const Operand& a, const Operand& b, Scalar beta = 1, Scalar alpha = 1);

Tensor& LogicalNot_(Tensor& x, Caller caller = Caller::Here());
Tensor& LogicalAnd_(Tensor& x, const Operand& y);
Tensor& LogicalOr_(Tensor& x, const Operand& y);
Tensor& LogicalXor_(Tensor& x, const Operand& y);
Tensor& BitwiseNot_(Tensor& x, Caller caller = Caller::Here());
Tensor& BitwiseAnd_(Tensor& x, const Operand& y);
Tensor& BitwiseOr_(Tensor& x, const Operand& y);
Tensor& BitwiseXor_(Tensor& x, const Operand& y);

Tensor& Relu_(Tensor& x, Caller caller = Caller::Here());
Tensor& Relu6_(Tensor& x, Caller caller = Caller::Here());
Tensor& Selu_(Tensor& x, Caller caller = Caller::Here());
Tensor& Silu_(Tensor& x, Caller caller = Caller::Here());
Tensor& Mish_(Tensor& x, Caller caller = Caller::Here());
Tensor& Hardsigmoid_(Tensor& x, Caller caller = Caller::Here());
Tensor& Hardswish_(Tensor& x, Caller caller = Caller::Here());
Tensor& LeakyRelu_(Tensor& x, double negative_slope = 0.01, Caller caller = Caller::Here());
Tensor& Elu_(Tensor& x, double alpha = 1, Caller caller = Caller::Here());
Tensor& Celu_(Tensor& x, double alpha = 1, Caller caller = Caller::Here());
Tensor& Hardtanh_(Tensor& x, double min = -1, double max = 1, Caller caller = Caller::Here());
Tensor& Threshold_(Tensor& x, Scalar threshold, Scalar value, Caller caller = Caller::Here());

Tensor& Tril_(Tensor& x, int64_t diagonal = 0, Caller caller = Caller::Here());
Tensor& Triu_(Tensor& x, int64_t diagonal = 0, Caller caller = Caller::Here());
Tensor& Cumsum_(Tensor& x, int64_t dim, Caller caller = Caller::Here());
Tensor& Cumprod_(Tensor& x, int64_t dim, Caller caller = Caller::Here());
Tensor& MaskedScatter_(Tensor& x, const Operand& mask, const Operand& source);
Tensor& Put_(Tensor& x, const Operand& index, const Operand& source, bool accumulate = false);

// Fill x with random numbers of the generator of x's device (hlod/ops/random.h).
Tensor& Uniform_(Tensor& x, double from = 0, double to = 1, Caller caller = Caller::Here());
Tensor& Normal_(Tensor& x, double mean = 0, double std = 1, Caller caller = Caller::Here());
Tensor& Bernoulli_(Tensor& x, double p = 0.5, Caller caller = Caller::Here());

}  // namespace hlod
