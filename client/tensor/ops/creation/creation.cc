// Factories: zeros, ones, full, eye, arange.
#include "hlod/ops/creation.h"

#include <cmath>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/dispatch/promotion.h"
#include "client/tensor/dispatch/settings.h"
#include "client/tensor/ops/creation/factories.h"
#include "client/tensor/ops/shape/whole_numbers.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/value/throw.h"

namespace hlod {

TensorOptions lazy::OptionsLike(const Tensor& like, const LikeOptions& options) {
  return {options.type.value_or(like.dtype()), options.device.value_or(like.device())};
}

Device lazy::FactoryDevice(const std::optional<Device>& device) {
  if (device.has_value()) return *device;
  return Current().native_host_tensors ? Device() : DefaultDevice(Caller{});
}

namespace {

using lazy::Lowering;
using lazy::Op;

using lazy::Copied;

Tensor Filled(const lazy::Operation& operation, DimList dims, const Scalar& value, PrimitiveType type,
              const TensorOptions& options, const Caller& caller) {
  return lazy::Create(
      operation, Copied(dims), type, lazy::FactoryDevice(options.device),
      [dims = Copied(dims), type, value, caller](Lowering& l) {
        return l.BroadcastTo(l.Number(type, value, caller), dims);
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
  return Filled(lazy::ops::Zeros, dims, 0, options.type.value_or(kF32), options, caller);
}
Tensor Ones(DimList dims, TensorOptions options, Caller caller) {
  return Filled(lazy::ops::Ones, dims, 1, options.type.value_or(kF32), options, caller);
}
Tensor Full(DimList dims, Scalar value, TensorOptions options, Caller caller) {
  const PrimitiveType type = options.type.value_or(lazy::NumberType(value));
  lazy::RequireFits(lazy::ops::Full, type, Operand(value, caller));
  return Filled(lazy::ops::Full, dims, value, type, options, caller);
}

namespace {

// Returns the number of steps from `start` up to but not including `end`; nullopt when `step` leads away from
// `end` or the distance overflows.
std::optional<int64_t> Steps(int64_t start, int64_t end, int64_t step) {
  int64_t distance = 0;
  if (__builtin_sub_overflow(end, start, &distance)) return std::nullopt;
  if (distance == 0) return 0;
  if ((distance > 0) != (step > 0)) return std::nullopt;
  return step > 0 ? (distance - 1) / step + 1 : (distance + 1) / step + 1;
}

}  // namespace

Tensor Arange(Scalar start, Scalar end, Scalar step, TensorOptions options, Caller caller) {
  const bool exact = start.is_integer() && end.is_integer() && step.is_integer();
  const double distance = step.ToDouble();
  const double about = std::ceil((end.ToDouble() - start.ToDouble()) / distance);
  // 2^62 elements exceed any memory, so larger counts are refused.
  const bool counts = distance != 0 && about >= 0 && about < 0x1p62;
  const std::optional<int64_t> count = !counts ? std::nullopt
                                       : exact ? Steps(start.ToInt(), end.ToInt(), step.ToInt())
                                               : std::optional(static_cast<int64_t>(about));
  if (!count) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrFormat("from %g to %g in steps of %g cannot be counted", start.ToDouble(),
                                end.ToDouble(), distance),
                "arange", caller);
  }
  const Dims dims = {*count};
  const PrimitiveType type = options.type.value_or(exact ? kS64 : kF32);
  return lazy::Create(
      lazy::ops::Arange, dims, type, lazy::FactoryDevice(options.device),
      [dims, start, step, type](Lowering& l) {
        // Computes in s64 or f64 and converts at the end, so that a narrow type rounds each number once.
        const bool whole = start.is_integer() && step.is_integer();
        const PrimitiveType wide = whole ? hlo::kS64 : hlo::kF64;
        const Op index = l.b.Iota(Shape::Array(wide, dims), 0);
        return l.Convert(index * l.Setting(wide, step, "step") + l.Setting(wide, start, "start"), type);
      },
      caller);
}

Tensor Eye(int64_t n, std::optional<int64_t> m, TensorOptions options, Caller caller) {
  const Dims dims = {n, m.value_or(n)};
  return lazy::Create(
      lazy::ops::Eye, dims, options.type.value_or(kF32), lazy::FactoryDevice(options.device),
      [dims, type = options.type.value_or(kF32)](Lowering& l) {
        const Shape index = Shape::Array(hlo::kS64, dims);
        const Op same = l.b.Compare(l.b.Iota(index, 0), l.b.Iota(index, 1), hlo::ComparisonDirection::kEq);
        return type == hlo::kPred ? same : l.b.Convert(same, type);
      },
      caller);
}

}  // namespace hlod
