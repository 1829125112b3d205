// Random tensors that take one draw per element.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/random/random.h"
#include "client/tensor/ops/special/special_series.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/indexing.h"
#include "hlod/ops/nn/softmax.h"
#include "hlod/ops/random.h"
#include "hlod/ops/reduction.h"

namespace hlod {
namespace {

using lazy::Lowering;
using lazy::Op;
using lazy::RandomState;
using lazy::Refuse;

// Returns -log(1 - u).
Op WaitingTimes(Lowering& l, Op uniform) {
  return l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kLogPlusOne, l.b.Unary(hlo::kNegate, uniform)));
}

}  // namespace

Tensor Exponential(DimList dims, double rate, TensorOptions options, Caller caller) {
  if (!(rate > 0)) {
    lazy::Throw(ErrorKind::kArgument, absl::StrFormat("the rate (%g) is not positive", rate), "exponential",
                caller);
  }
  return lazy::RandomFloats(lazy::ops::Exponential, dims, options, caller,
                            [rate](Lowering& l, RandomState state, PrimitiveType type, const Dims& shape) {
                              const PrimitiveType wide = lazy::WideType(type);
                              const Op time = WaitingTimes(l, lazy::RandomUniform(l, state, wide, shape));
                              return l.Convert(time / l.Varying(wide, rate), type);
                            });
}
Tensor Exponential(const Operand& rate) {
  return lazy::Call(lazy::ops::Exponential, {rate}, [](Lowering& l, lazy::Operands o) {
    if (!hlo::IsFloat(l.type(o[0]))) Refuse("rates are of a floating type, not %s", hlo::Name(l.type(o[0])));
    return lazy::InWide(l, o[0], [](Lowering& l, Op x) {
      return WaitingTimes(l, lazy::RandomUniform(l, lazy::DrawFor(l, l.dims(x)), l.type(x), l.dims(x))) / x;
    });
  });
}

Tensor Gumbel(DimList dims, TensorOptions options, Caller caller) {
  return lazy::RandomFloats(lazy::ops::Gumbel, dims, options, caller,
                            [](Lowering& l, RandomState state, PrimitiveType type, const Dims& shape) {
                              const Op uniform = lazy::RandomUniform(l, state, lazy::WideType(type), shape);
                              return l.Convert(lazy::GumbelOps(l, uniform), type);
                            });
}

// Applies the inverse distribution function. An interval above 0 is mirrored, because the function has more
// digits below 0.
Tensor TruncatedNormal(DimList dims, double low, double high, TensorOptions options, Caller caller) {
  if (!(low < high)) {
    lazy::Throw(ErrorKind::kArgument, absl::StrFormat("no number lies between %g and %g", low, high),
                "truncated_normal", caller);
  }
  const bool mirrored = low > 0;
  const double from = mirrored ? -high : low, to = mirrored ? -low : high;
  return lazy::RandomFloats(
      lazy::ops::TruncatedNormal, dims, options, caller,
      [=](Lowering& l, RandomState state, PrimitiveType type, const Dims& shape) {
        const double first = std::erfc(-from / std::numbers::sqrt2) / 2,
                     last = std::erfc(-to / std::numbers::sqrt2) / 2;
        const Op uniform = lazy::RandomUniform(l, state, hlo::kF64, shape);
        const Op part = uniform * l.Varying(hlo::kF64, last - first) + l.Varying(hlo::kF64, first);
        Op x = lazy::NormalQuantileOps(l, part);
        if (mirrored) x = l.b.Unary(hlo::kNegate, x);
        x = l.b.Binary(hlo::kMaximum, x, l.BroadcastTo(l.Varying(hlo::kF64, low), shape));
        return l.Convert(l.b.Binary(hlo::kMinimum, x, l.BroadcastTo(l.Varying(hlo::kF64, high), shape)),
                         type);
      });
}

Tensor Categorical(const Operand& logits, DimList dims) {
  const lazy::Operation& operation = lazy::ops::Categorical;
  const Tensor& x = lazy::TensorOf(operation, logits);
  lazy::Explain(operation, {&logits, 1}, logits.caller(), [&] {
    if (x.rank() == 0 || x.size(-1) == 0)
      Refuse("logits of shape %s have no classes", lazy::ListText(x.dims()));
    if (!hlo::IsFloat(x.dtype())) Refuse("logits are of a floating type, not %s", hlo::Name(x.dtype()));
  });
  const CallerScope scope(logits.caller());
  Dims all = lazy::Copied(dims);
  all.insert(all.end(), x.dims().begin(), x.dims().end());
  const PrimitiveType wide = lazy::WideType(x.dtype());
  return Argmax(Gumbel(all, {.type = wide, .device = x.device()}) + x, -1);
}

Tensor GumbelSoftmax(const Operand& logits, double tau, bool hard, int64_t dim) {
  const lazy::Operation& operation = lazy::ops::GumbelSoftmax;
  const Tensor& x = lazy::TensorOf(operation, logits);
  lazy::Explain(operation, {&logits, 1}, logits.caller(), [&] {
    if (!hlo::IsFloat(x.dtype())) Refuse("logits are of a floating type, not %s", hlo::Name(x.dtype()));
    if (!(tau > 0)) Refuse("tau (%g) is not positive", tau);
  });
  const CallerScope scope(logits.caller());
  const Tensor noise = Gumbel(x.dims(), {.type = x.dtype(), .device = x.device()});
  const Tensor soft = Softmax((x + noise) / tau, dim);
  if (!hard) return soft;
  const Tensor one = Scatter(ZerosLike(soft), dim, Argmax(soft, dim, true), 1);
  return one - soft.Detach() + soft;
}

}  // namespace hlod
