// The *_like factories, linspace and logspace.
#include <cmath>

#include "client/tensor/ops/creation/factories.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/ops/shape/whole_numbers.h"

namespace hlod {

using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::OptionsLike;
using lazy::Refuse;
using lazy::TensorOf;

namespace {

// Returns `steps` evenly spaced numbers of type `wide`. Each is counted from the nearer end, so that both
// ends are exact.
Op Spaced(Lowering& l, PrimitiveType wide, const Scalar& start, const Scalar& end, int64_t steps) {
  const Op first = l.Setting(wide, start, "start"), last = l.Setting(wide, end, "end");
  const Op at = l.b.Iota(Shape::Array(hlo::kS64, {steps}), 0);
  if (steps == 1) return l.Reshape(first, {1});
  const std::complex<double> step = (end.ToComplex() - start.ToComplex()) / static_cast<double>(steps - 1);
  const Op distance = l.Setting(wide, hlo::IsComplex(wide) ? Scalar(step) : Scalar(step.real()), "step");
  const Op from_end = l.Number(hlo::kS64, steps - 1) - at;
  const Op before = lazy::CompareOps(l, at, l.Number(hlo::kS64, steps / 2), lazy::Order::kLt);
  return l.b.Select(before, first + l.Convert(at, wide) * distance,
                    last - l.Convert(from_end, wide) * distance);
}

template <typename F>
Tensor SpacedFactory(const lazy::Operation& operation, Scalar start, Scalar end, int64_t steps,
                     const TensorOptions& options, const Caller& caller, F change) {
  lazy::Explain(operation, {}, caller, [&] {
    if (steps < 0) Refuse("the number of steps (%d) is negative", steps);
  });
  return lazy::Create(
      operation, {steps}, options.type.value_or(kF32), lazy::FactoryDevice(options.device),
      [=, type = options.type.value_or(kF32)](Lowering& l) {
        const PrimitiveType wide = hlo::IsComplex(type) ? hlo::kC128 : hlo::kF64;
        return l.Convert(change(l, Spaced(l, wide, start, end, steps)), type);
      },
      caller);
}

}  // namespace

Tensor Linspace(Scalar start, Scalar end, int64_t steps, TensorOptions options, Caller caller) {
  return SpacedFactory(lazy::ops::Linspace, start, end, steps, options, caller,
                       [](Lowering&, Op x) { return x; });
}
Tensor Logspace(Scalar start, Scalar end, int64_t steps, double base, TensorOptions options, Caller caller) {
  return SpacedFactory(lazy::ops::Logspace, start, end, steps, options, caller, [base](Lowering& l, Op x) {
    return l.b.Binary(hlo::kPower, l.BroadcastTo(l.Setting(l.type(x), base, "base"), l.dims(x)), x);
  });
}

Tensor ZerosLike(const Operand& x, LikeOptions options) {
  const Tensor& like = TensorOf(lazy::ops::ZerosLike, x);
  return Zeros(like.dims(), OptionsLike(like, options), x.caller());
}
Tensor OnesLike(const Operand& x, LikeOptions options) {
  const Tensor& like = TensorOf(lazy::ops::OnesLike, x);
  return Ones(like.dims(), OptionsLike(like, options), x.caller());
}
Tensor FullLike(const Operand& x, Scalar value, LikeOptions options) {
  const Tensor& like = TensorOf(lazy::ops::FullLike, x);
  return Full(like.dims(), value, OptionsLike(like, options), x.caller());
}
Tensor NewZeros(const Operand& x, DimList dims, LikeOptions options) {
  return Zeros(dims, OptionsLike(TensorOf(lazy::ops::NewZeros, x), options), x.caller());
}
Tensor NewOnes(const Operand& x, DimList dims, LikeOptions options) {
  return Ones(dims, OptionsLike(TensorOf(lazy::ops::NewOnes, x), options), x.caller());
}
Tensor NewFull(const Operand& x, DimList dims, Scalar value, LikeOptions options) {
  return Full(dims, value, OptionsLike(TensorOf(lazy::ops::NewFull, x), options), x.caller());
}

Tensor Fill(const Operand& x, const Operand& value) {
  lazy::RequireFits(lazy::ops::Fill, TensorOf(lazy::ops::Fill, x).dtype(), value);
  return lazy::Binary(lazy::ops::Fill, x, value, [](Lowering& l, Op x, Op value) {
    if (!l.dims(value).empty()) {
      Refuse("the value is a number or a tensor without dimensions, not of shape %s",
             lazy::ListText(l.dims(value)));
    }
    return l.BroadcastTo(l.Convert(value, l.type(x)), l.dims(x));
  });
}

}  // namespace hlod
