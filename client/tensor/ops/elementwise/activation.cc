// Activations. Types of 16 bits are computed in f32 and rounded once.
#include "hlod/ops/nn/activation.h"

#include <cmath>
#include <numbers>
#include <optional>

#include "client/tensor/dispatch/generator.h"
#include "client/tensor/function/function.h"
#include "client/tensor/ops/elementwise/elementwise.h"

namespace hlod {

using lazy::Lowering;
using lazy::Op;

namespace {

using lazy::CompareOps;
using lazy::N;
using lazy::Order;
using lazy::Refuse;
using lazy::SelectOps;

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

// A parameter of an activation (a slope, a threshold), passed to the program in the type in which the
// activation is computed.
struct Setting {
  const char* name;
  Scalar value;
  Op operator()(Lowering& l, Op x) const { return l.Setting(l.type(x), value, name); }
};

template <typename F>
Tensor Activation(const lazy::Operation& operation, const Operand& x, F lower) {
  return lazy::Unary(operation, x, [&](Lowering& l, Op x) { return lazy::InWide(l, x, lower); });
}

Op Positive(Lowering& l, Op x) { return CompareOps(l, x, 0, Order::kGt); }
// Clamps x to [low, high]. The gradient at a bound is 0, unlike Clamp's, which is 1.
Op OpenClamp(Lowering& l, Op x, Op low, Op high) {
  if (l.type(x) == hlo::kPred) Refuse("a bool is not bounded");
  const Op above = SelectOps(l, CompareOps(l, x, low, Order::kLe), low, x);
  return SelectOps(l, CompareOps(l, above, high, Order::kGe), high, above);
}
// Returns alpha (exp(x / scale) - 1) where x <= 0, else x. A null scale is 1.
Op EluOps(Lowering& l, Op x, Op alpha, std::optional<Op> scale = {}) {
  // The argument of the exponential is at most 0, so that the unused branch does not overflow.
  const Op negative = CompareOps(l, x, 0, Order::kLt), below = SelectOps(l, negative, x, N(l, x, 0));
  const Op rest = scale.has_value() ? below / *scale : below;
  // At 0 the slope is that of the left side, and the second derivative that of the right side.
  const Op line = scale.has_value() ? x : SelectOps(l, CompareOps(l, x, 0, Order::kEq), x * alpha, x);
  return SelectOps(l, negative, l.b.Unary(hlo::kExponentialMinusOne, rest) * alpha, line);
}

}  // namespace

Tensor Relu6(const Operand& x) {
  return Activation(lazy::ops::Relu6, x,
                    [](Lowering& l, Op x) { return OpenClamp(l, x, N(l, x, 0), N(l, x, 6)); });
}
Tensor Selu(const Operand& x) {
  return Activation(lazy::ops::Selu, x, [](Lowering& l, Op x) {
    return EluOps(l, x, N(l, x, kSeluAlpha)) * N(l, x, kSeluScale);
  });
}
Tensor Silu(const Operand& x) {
  return Activation(lazy::ops::Silu, x, [](Lowering& l, Op x) { return x * l.b.Unary(hlo::kLogistic, x); });
}
Tensor Mish(const Operand& x) {
  return Activation(lazy::ops::Mish, x,
                    [](Lowering& l, Op x) { return x * l.b.Unary(hlo::kTanh, lazy::SoftplusOps(l, x)); });
}
Tensor Softsign(const Operand& x) {
  return Activation(lazy::ops::Softsign, x, [](Lowering& l, Op x) {
    // The absolute value of a complex number is real: it is converted back to x's type.
    return x / (N(l, x, 1) + l.Convert(l.b.Unary(hlo::kAbs, x), l.type(x)));
  });
}
Tensor Hardsigmoid(const Operand& x) {
  return Activation(lazy::ops::Hardsigmoid, x, [](Lowering& l, Op x) {
    const Op line = OpenClamp(l, x + N(l, x, 3), N(l, x, 0), N(l, x, 6)) / N(l, x, 6);
    return SelectOps(l, lazy::NanOps(l, x), lazy::StopGradient(l, line), line);  // NaN has gradient 0.
  });
}
Tensor Hardswish(const Operand& x) {
  return Activation(lazy::ops::Hardswish, x, [](Lowering& l, Op x) {
    return x * OpenClamp(l, x + N(l, x, 3), N(l, x, 0), N(l, x, 6)) / N(l, x, 6);
  });
}
Tensor Tanhshrink(const Operand& x) {
  return Activation(lazy::ops::Tanhshrink, x, [](Lowering& l, Op x) { return x - l.b.Unary(hlo::kTanh, x); });
}
Tensor Logsigmoid(const Operand& x) {
  return Activation(lazy::ops::Logsigmoid, x, [](Lowering& l, Op x) {
    return l.b.Unary(hlo::kNegate, lazy::SoftplusOps(l, l.b.Unary(hlo::kNegate, x)));
  });
}

Tensor LeakyRelu(const Operand& x, double negative_slope) {
  const Setting slope{"negative_slope", negative_slope};
  return Activation(lazy::ops::LeakyRelu, x,
                    [&](Lowering& l, Op x) { return SelectOps(l, Positive(l, x), x, x * slope(l, x)); });
}
Tensor Rrelu(const Operand& x, double lower, double upper, bool training) {
  if (!training) return LeakyRelu(x, (lower + upper) / 2);
  const Setting range{"upper", upper - lower}, least{"lower", lower};
  return Activation(lazy::ops::Rrelu, x, [&](Lowering& l, Op x) {
    if (!(lower <= upper)) Refuse("the bounds of the slope (%g and %g) are not in order", lower, upper);
    if (!hlo::IsFloat(l.type(x))) Refuse("random slopes of %s are not defined", hlo::Name(l.type(x)));
    const lazy::RandomState state = lazy::Draw(l.graph.place, lazy::Count(l.dims(x)), 64);
    const Op unit = lazy::RandomUniform(l, state, l.type(x), l.dims(x));
    const Op slope = unit * range(l, x) + least(l, x);
    return SelectOps(l, Positive(l, x), x, x * slope);
  });
}
Tensor Elu(const Operand& x, double alpha) {
  const Setting slope{"alpha", alpha};
  return Activation(lazy::ops::Elu, x, [&](Lowering& l, Op x) { return EluOps(l, x, slope(l, x)); });
}
Tensor Celu(const Operand& x, double alpha) {
  const Setting slope{"alpha", alpha};
  return Activation(lazy::ops::Celu, x, [&](Lowering& l, Op x) {
    const Op by = slope(l, x);
    return EluOps(l, x, by, by);
  });
}
Tensor Gelu(const Operand& x, GeluApproximation approximation) {
  return Activation(lazy::ops::Gelu, x, [&](Lowering& l, Op x) {
    const Op half = x * N(l, x, 0.5), one = N(l, x, 1);
    if (approximation == GeluApproximation::kNone) {
      return half * (l.b.Unary(hlo::kErf, x * N(l, x, std::numbers::sqrt2 / 2)) + one);
    }
    const Op inner = (x + x * x * x * N(l, x, 0.044715)) * N(l, x, std::sqrt(2 / std::numbers::pi));
    return half * (l.b.Unary(hlo::kTanh, inner) + one);
  });
}
Tensor Softplus(const Operand& x, double beta, double threshold) {
  const Setting steepness{"beta", beta}, bound{"threshold", threshold};
  return Activation(lazy::ops::Softplus, x, [&](Lowering& l, Op x) {
    const Op by = steepness(l, x), scaled = x * by;
    return SelectOps(l, CompareOps(l, scaled, bound(l, x), Order::kGt), x, lazy::SoftplusOps(l, scaled) / by);
  });
}
Tensor Hardtanh(const Operand& x, double min, double max) {
  const Setting low{"min", min}, high{"max", max};
  return lazy::Unary(lazy::ops::Hardtanh, x,
                     [&](Lowering& l, Op x) { return OpenClamp(l, x, low(l, x), high(l, x)); });
}
Tensor Hardshrink(const Operand& x, double lambda) {
  const Setting width{"lambda", lambda};
  return Activation(lazy::ops::Hardshrink, x, [&](Lowering& l, Op x) {
    const Op inside = CompareOps(l, l.b.Unary(hlo::kAbs, x), width(l, x), Order::kLe);
    return SelectOps(l, inside, N(l, x, 0), x);
  });
}
Tensor Softshrink(const Operand& x, double lambda) {
  const Setting width{"lambda", lambda};
  return Activation(lazy::ops::Softshrink, x, [&](Lowering& l, Op x) {
    const Op by = width(l, x), minus = l.b.Unary(hlo::kNegate, by);
    const Op inside = SelectOps(l, lazy::NanOps(l, x), x, N(l, x, 0));
    const Op below = SelectOps(l, CompareOps(l, x, minus, Order::kLt), x + by, inside);
    return SelectOps(l, CompareOps(l, x, by, Order::kGt), x - by, below);
  });
}
Tensor Threshold(const Operand& x, Scalar threshold, Scalar value) {
  const Setting bound{"threshold", threshold}, below{"value", value};
  return lazy::Unary(lazy::ops::Threshold, x, [&](Lowering& l, Op x) {
    return SelectOps(l, CompareOps(l, x, bound(l, x), Order::kLe), below(l, x), x);
  });
}
// `weight` is one number for all, or one per index of dimension 1.
Tensor Prelu(const Operand& x, const Operand& weight) {
  return lazy::Binary(lazy::ops::Prelu, x, weight, [](Lowering& l, Op x, Op weight) {
    const Dims dims = l.dims(x);
    const int64_t count = lazy::Count(l.dims(weight));
    const int64_t channels = dims.size() < 2 ? 1 : dims[1];
    if (count != 1 && count != channels) Refuse("%d weights do not fit %d channels", count, channels);
    Dims shape(dims.size(), 1);
    if (dims.size() >= 2) shape[1] = count;
    return SelectOps(l, Positive(l, x), x, lazy::MulOps(l, l.Reshape(weight, shape), x));
  });
}
Tensor Glu(const Operand& x, int64_t dim) {
  return lazy::Unary(lazy::ops::Glu, x, [&](Lowering& l, Op x) {
    const Dims dims = l.dims(x);
    if (dims.empty()) Refuse("a scalar cannot be halved");
    const int64_t at = lazy::WrapDim(dim, static_cast<int64_t>(dims.size())), half = dims[at] / 2;
    if (dims[at] % 2 != 0) Refuse("dimension %d has the odd size %d", at, dims[at]);
    Dims start(dims.size(), 0), limit = dims;
    limit[at] = half;
    const Op first = l.b.Slice(x, start, limit);
    start[at] = half;
    limit[at] = 2 * half;
    return first * l.b.Unary(hlo::kLogistic, l.b.Slice(x, start, limit));
  });
}

}  // namespace hlod
