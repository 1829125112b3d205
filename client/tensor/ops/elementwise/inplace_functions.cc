// In-place updates that run the operation of the same name and store its result.
#include "hlod/ops/inplace.h"

#include "client/tensor/dispatch/apply.h"
#include "hlod/ops/arrangement.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/cumulative.h"
#include "hlod/ops/indexing.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/activation.h"
#include "hlod/ops/random.h"

namespace hlod {
namespace {

// Replaces the value of x by `result`, which was computed from x and `others`. `name` is PyTorch's name.
// Throws when x overlaps one of `others`.
Tensor& Stored(const char* name, Tensor& x, const Tensor& result, const Caller& caller,
               std::initializer_list<Operand> others = {}) {
  const lazy::Operation operation = {name, name, lazy::Promotion::kNone, "in place"};
  const Operand operands[] = {Operand(x, caller), Operand(result, caller)};
  if (others.size() > 0) {
    lazy::Explain(operation, others, caller,
                  [&] { lazy::CheckOverlap(*x.impl(), absl::MakeConstSpan(others.begin(), others.size())); });
  }
  return lazy::CallInPlace(operation, x, operands, [](lazy::Lowering&, lazy::Operands o) { return o[1]; });
}

}  // namespace

// In-place functions of x alone.
#define HLOD_STORED(Name, pytorch) \
  Tensor& Name##_(Tensor& x, Caller caller) { return Stored(pytorch, x, Name(Operand(x, caller)), caller); }
HLOD_STORED(Abs, "abs_")
HLOD_STORED(Neg, "neg_")
HLOD_STORED(Sign, "sign_")
HLOD_STORED(Ceil, "ceil_")
HLOD_STORED(Floor, "floor_")
HLOD_STORED(Trunc, "trunc_")
HLOD_STORED(Frac, "frac_")
HLOD_STORED(Exp, "exp_")
HLOD_STORED(Exp2, "exp2_")
HLOD_STORED(Expm1, "expm1_")
HLOD_STORED(Log, "log_")
HLOD_STORED(Log2, "log2_")
HLOD_STORED(Log10, "log10_")
HLOD_STORED(Log1p, "log1p_")
HLOD_STORED(Sqrt, "sqrt_")
HLOD_STORED(Rsqrt, "rsqrt_")
HLOD_STORED(Reciprocal, "reciprocal_")
HLOD_STORED(Square, "square_")
HLOD_STORED(Sin, "sin_")
HLOD_STORED(Cos, "cos_")
HLOD_STORED(Tan, "tan_")
HLOD_STORED(Sinh, "sinh_")
HLOD_STORED(Cosh, "cosh_")
HLOD_STORED(Tanh, "tanh_")
HLOD_STORED(Asin, "asin_")
HLOD_STORED(Acos, "acos_")
HLOD_STORED(Atan, "atan_")
HLOD_STORED(Sigmoid, "sigmoid_")
HLOD_STORED(Erf, "erf_")
HLOD_STORED(Erfc, "erfc_")
HLOD_STORED(Erfinv, "erfinv_")
HLOD_STORED(Lgamma, "lgamma_")
HLOD_STORED(Digamma, "digamma_")
HLOD_STORED(LogicalNot, "logical_not_")
HLOD_STORED(BitwiseNot, "bitwise_not_")
HLOD_STORED(Relu, "relu_")
HLOD_STORED(Relu6, "relu6_")
HLOD_STORED(Selu, "selu_")
HLOD_STORED(Silu, "silu_")
HLOD_STORED(Mish, "mish_")
HLOD_STORED(Hardsigmoid, "hardsigmoid_")
HLOD_STORED(Hardswish, "hardswish_")
#undef HLOD_STORED

// In-place functions of x and another operand.
#define HLOD_STORED(Name, pytorch)                                               \
  Tensor& Name##_(Tensor& x, const Operand& y) {                                 \
    return Stored(pytorch, x, Name(Operand(x, y.caller()), y), y.caller(), {y}); \
  }
HLOD_STORED(Pow, "pow_")
HLOD_STORED(Remainder, "remainder_")
HLOD_STORED(Fmod, "fmod_")
HLOD_STORED(FloorDivide, "floor_divide_")
HLOD_STORED(Atan2, "atan2_")
HLOD_STORED(ClampMin, "clamp_min_")
HLOD_STORED(ClampMax, "clamp_max_")
HLOD_STORED(LogicalAnd, "logical_and_")
HLOD_STORED(LogicalOr, "logical_or_")
HLOD_STORED(LogicalXor, "logical_xor_")
HLOD_STORED(BitwiseAnd, "bitwise_and_")
HLOD_STORED(BitwiseOr, "bitwise_or_")
HLOD_STORED(BitwiseXor, "bitwise_xor_")
#undef HLOD_STORED

Tensor& Round_(Tensor& x, int64_t decimals, Caller caller) {
  return Stored("round_", x, Round(Operand(x, caller), decimals), caller);
}
Tensor& NanToNum_(Tensor& x, double nan, std::optional<double> posinf, std::optional<double> neginf,
                  Caller caller) {
  return Stored("nan_to_num_", x, NanToNum(Operand(x, caller), nan, posinf, neginf), caller);
}
Tensor& Clamp_(Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max, Caller caller) {
  const auto bound = [&](const std::optional<Scalar>& number) {
    return number ? std::optional<Operand>(Operand(*number, caller)) : std::nullopt;
  };
  return Stored("clamp_", x, Clamp(Operand(x, caller), bound(min), bound(max)), caller);
}
Tensor& Lerp_(Tensor& x, const Operand& end, const Operand& weight) {
  return Stored("lerp_", x, Lerp(Operand(x, end.caller()), end, weight), end.caller(), {end, weight});
}
Tensor& Addcmul_(Tensor& x, const Operand& a, const Operand& b, Scalar value) {
  return Stored("addcmul_", x, Addcmul(Operand(x, a.caller()), a, b, value), a.caller(), {a, b});
}
Tensor& Addcdiv_(Tensor& x, const Operand& a, const Operand& b, Scalar value) {
  return Stored("addcdiv_", x, Addcdiv(Operand(x, a.caller()), a, b, value), a.caller(), {a, b});
}
Tensor& Addmm_(Tensor& x, const Operand& a, const Operand& b, Scalar beta, Scalar alpha) {
  return Stored("addmm_", x, Addmm(Operand(x, a.caller()), a, b, beta, alpha), a.caller());
}
Tensor& Addmv_(Tensor& x, const Operand& a, const Operand& b, Scalar beta, Scalar alpha) {
  return Stored("addmv_", x, Addmv(Operand(x, a.caller()), a, b, beta, alpha), a.caller());
}
Tensor& Addr_(Tensor& x, const Operand& a, const Operand& b, Scalar beta, Scalar alpha) {
  return Stored("addr_", x, Addr(Operand(x, a.caller()), a, b, beta, alpha), a.caller());
}
Tensor& Baddbmm_(Tensor& x, const Operand& a, const Operand& b, Scalar beta, Scalar alpha) {
  return Stored("baddbmm_", x, Baddbmm(Operand(x, a.caller()), a, b, beta, alpha), a.caller());
}

Tensor& LeakyRelu_(Tensor& x, double negative_slope, Caller caller) {
  return Stored("leaky_relu_", x, LeakyRelu(Operand(x, caller), negative_slope), caller);
}
Tensor& Elu_(Tensor& x, double alpha, Caller caller) {
  return Stored("elu_", x, Elu(Operand(x, caller), alpha), caller);
}
Tensor& Celu_(Tensor& x, double alpha, Caller caller) {
  return Stored("celu_", x, Celu(Operand(x, caller), alpha), caller);
}
Tensor& Hardtanh_(Tensor& x, double min, double max, Caller caller) {
  return Stored("hardtanh_", x, Hardtanh(Operand(x, caller), min, max), caller);
}
Tensor& Threshold_(Tensor& x, Scalar threshold, Scalar value, Caller caller) {
  return Stored("threshold_", x, Threshold(Operand(x, caller), threshold, value), caller);
}

Tensor& Tril_(Tensor& x, int64_t diagonal, Caller caller) {
  return Stored("tril_", x, Tril(Operand(x, caller), diagonal), caller);
}
Tensor& Triu_(Tensor& x, int64_t diagonal, Caller caller) {
  return Stored("triu_", x, Triu(Operand(x, caller), diagonal), caller);
}
Tensor& Cumsum_(Tensor& x, int64_t dim, Caller caller) {
  return Stored("cumsum_", x, Cumsum(Operand(x, caller), dim), caller);
}
Tensor& Cumprod_(Tensor& x, int64_t dim, Caller caller) {
  return Stored("cumprod_", x, Cumprod(Operand(x, caller), dim), caller);
}
Tensor& MaskedScatter_(Tensor& x, const Operand& mask, const Operand& source) {
  return Stored("masked_scatter_", x, MaskedScatter(Operand(x, mask.caller()), mask, source), mask.caller());
}
Tensor& Put_(Tensor& x, const Operand& index, const Operand& source, bool accumulate) {
  return Stored("put_", x, Put(Operand(x, index.caller()), index, source, accumulate), index.caller(),
                {source});
}

Tensor& Uniform_(Tensor& x, double from, double to, Caller caller) {
  const CallerScope scope(caller);
  return Stored("uniform_", x, Uniform(x.dims(), from, to, {.type = x.dtype(), .device = x.device()}),
                caller);
}
Tensor& Normal_(Tensor& x, double mean, double std, Caller caller) {
  const CallerScope scope(caller);
  return Stored("normal_", x, Normal(mean, std, x.dims(), {.type = x.dtype(), .device = x.device()}), caller);
}
Tensor& Bernoulli_(Tensor& x, double p, Caller caller) {
  return Stored("bernoulli_", x, Bernoulli(Operand(x, caller), p), caller);
}

}  // namespace hlod
