// Factories.
#include "hlod/ops/creation.h"

#include <cmath>

#include "client/tensor/apply.h"
#include "client/tensor/ops/factories.h"
#include "client/tensor/runtime.h"
#include "client/tensor/settings.h"
#include "client/tensor/throw.h"

namespace hlod {

TensorOptions lazy::OptionsLike(const Tensor& like, const LikeOptions& options) {
  return {options.type.value_or(like.dtype()), options.device.value_or(like.device())};
}

Device lazy::FactoryDevice(const std::optional<Device>& device) {
  if (device.has_value()) return *device;
  return Current().native_host_tensors ? Device() : DefaultDevice();
}

namespace {

using lazy::Lowering;
using lazy::Op;

Dims Copied(DimList dims) { return Dims(dims.begin(), dims.end()); }

// A number that fills: a parameter when it may vary, so that another value is the same program.
Op FillNumber(Lowering& l, PrimitiveType type, const Scalar& value, const Caller& caller) {
  Literal literal = lazy::NumberLiteral(type, value);
  const bool parameter =
      l.graph.kind != lazy::Graph::Kind::kHost && lazy::Tracer::Get().IsParameter(caller, value);
  return parameter ? l.graph.op(l.graph.NumberParameter(std::move(literal)))
                   : l.b.Constant(std::move(literal));
}

Tensor Filled(const lazy::Operation& operation, DimList dims, const Scalar& value,
              const TensorOptions& options, const Caller& caller) {
  return lazy::Create(
      operation, Copied(dims), options.type, lazy::FactoryDevice(options.device),
      [dims = Copied(dims), type = options.type, value, caller](Lowering& l) {
        return l.BroadcastTo(FillNumber(l, type, value, caller), dims);
      },
      caller);
}

}  // namespace

Tensor FromLiteral(Literal literal, std::optional<Device> device, Caller caller) {
  if (!literal.shape().IsArray()) {
    lazy::Throw(ErrorKind::kArgument,
                "a tensor is made of an array, not of " + hlo::ToString(literal.shape()), "tensor", caller);
  }
  auto value = lazy::MakeRef<lazy::Value>(literal.shape().type, literal.shape().dims, lazy::Place{}, caller);
  value->Become(std::make_shared<const Literal>(std::move(literal)));
  return lazy::MakeTensor(std::move(value)).To(lazy::FactoryDevice(device), caller);
}

Tensor Zeros(DimList dims, TensorOptions options, Caller caller) {
  return Filled(lazy::ops::Zeros, dims, 0, options, caller);
}
Tensor Ones(DimList dims, TensorOptions options, Caller caller) {
  return Filled(lazy::ops::Ones, dims, 1, options, caller);
}
Tensor Full(DimList dims, Scalar value, TensorOptions options, Caller caller) {
  return Filled(lazy::ops::Full, dims, value, options, caller);
}

Tensor Arange(Scalar start, Scalar end, Scalar step, TensorOptions options, Caller caller) {
  const double distance = step.ToDouble();
  const double count = std::ceil((end.ToDouble() - start.ToDouble()) / distance);
  if (distance == 0 || !std::isfinite(count) || count < 0) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrFormat("from %g to %g in steps of %g cannot be counted", start.ToDouble(),
                                end.ToDouble(), distance),
                "arange", caller);
  }
  const Dims dims = {static_cast<int64_t>(count)};
  return lazy::Create(
      lazy::ops::Arange, dims, options.type, lazy::FactoryDevice(options.device),
      [dims, start, step, type = options.type](Lowering& l) {
        // Counted in s64 or f64, so that a narrow type rounds each number once.
        const bool exact = start.is_integer() && step.is_integer();
        const PrimitiveType wide = exact ? hlo::kS64 : hlo::kF64;
        const Op index = l.b.Iota(Shape::Array(wide, dims), 0);
        return l.Convert(index * l.Number(wide, step) + l.Number(wide, start), type);
      },
      caller);
}

Tensor Eye(int64_t n, std::optional<int64_t> m, TensorOptions options, Caller caller) {
  const Dims dims = {n, m.value_or(n)};
  return lazy::Create(
      lazy::ops::Eye, dims, options.type, lazy::FactoryDevice(options.device),
      [dims, type = options.type](Lowering& l) {
        const Shape index = Shape::Array(hlo::kS64, dims);
        const Op same = l.b.Compare(l.b.Iota(index, 0), l.b.Iota(index, 1), hlo::ComparisonDirection::kEq);
        return type == hlo::kPred ? same : l.b.Convert(same, type);
      },
      caller);
}

}  // namespace hlod
