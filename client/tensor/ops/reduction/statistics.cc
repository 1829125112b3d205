// Reductions to products, moments, norms and logarithms of sums; the softmax family.
#include <cmath>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/elementwise/slopes.h"
#include "client/tensor/ops/reduction/reduction.h"
#include "client/tensor/ops/shape/stop.h"
#include "client/tensor/value/numbers.h"
#include "hlod/ops/nn/softmax.h"
#include "hlod/ops/reduction.h"

namespace hlod {

using lazy::Lowering;
using lazy::Op;

namespace {

using lazy::CompareOps;
using lazy::CountOf;
using lazy::KeepDims;
using lazy::Kept;
using lazy::N;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;
using lazy::SelectOps;
using lazy::SumOps;

using lazy::kInfinity;

struct Moments {
  Op mean, variance;  // Both in the wide type, without the reduced dimensions.
};
Moments MomentsOps(Lowering& l, Op x, const Dims& reduced, double correction) {
  if (!hlo::IsFloat(l.type(x)) && !hlo::IsComplex(l.type(x))) {
    Refuse("the variance of %s is not defined: convert it to a floating type", hlo::Name(l.type(x)));
  }
  const Dims from = l.dims(x);
  const double count = CountOf(from, reduced);
  const Op wide = l.Convert(x, lazy::WideType(l.type(x)));
  const Op sum = SumOps(l, wide, reduced);
  const Op mean = sum / N(l, sum, count);
  const Op deviation = lazy::SubOps(l, wide, KeepDims(l, mean, from, reduced));
  const Op squares = SumOps(l, lazy::SquaredSizeOps(l, deviation), reduced);
  const double freedom = std::max(count - correction, 0.0);
  const PrimitiveType type = l.type(squares);
  const bool varies = l.Varies(correction, "correction");
  return {mean, squares / (varies ? l.Varying(type, freedom) : l.Number(type, freedom))};
}
// Converts f32 to f64, because the square of a deviation can overflow f32 where the deviation does not.
Op Wider(Lowering& l, Op x) { return l.type(x) == hlo::kF32 ? l.Convert(x, hlo::kF64) : x; }

Tensor Deviation(const lazy::Operation& operation, const Operand& x, DimList dims, double correction,
                 bool keepdim, bool root) {
  return lazy::Unary(operation, x, [&](Lowering& l, Op x) {
    const Dims reduced = lazy::WrapDims(l, x, dims);
    Op spread = MomentsOps(l, root ? Wider(l, x) : x, reduced, correction).variance;
    if (root) spread = lazy::RootOps(l, spread);
    if (!hlo::IsComplex(l.type(x))) spread = l.Convert(spread, l.type(x));
    return l.Reshape(spread, Kept(l.dims(x), reduced, keepdim));
  });
}
std::pair<Tensor, Tensor> SpreadAndMean(const lazy::Operation& operation, const Operand& x, DimList dims,
                                        double correction, bool keepdim, bool root) {
  std::vector<Tensor> both = lazy::CallSeveral(operation, {&x, 1}, [&](Lowering& l, Operands o) {
    const Dims reduced = lazy::WrapDims(l, o[0], dims), kept = Kept(l.dims(o[0]), reduced, keepdim);
    const Moments moments = MomentsOps(l, root ? Wider(l, o[0]) : o[0], reduced, correction);
    Op spread = root ? lazy::RootOps(l, moments.variance) : moments.variance;
    if (!hlo::IsComplex(l.type(o[0]))) spread = l.Convert(spread, l.type(o[0]));
    return std::vector<Op>{l.Reshape(spread, kept), l.Reshape(l.Convert(moments.mean, l.type(o[0])), kept)};
  });
  return {both[0], both[1]};
}

Op LogSumExpOps(Lowering& l, Op x, const Dims& reduced) {
  const Dims from = l.dims(x);
  Op largest = lazy::WithoutGradient(l, l.Reduce(hlo::kMaximum, x, reduced), x);
  largest =
      SelectOps(l, CompareOps(l, l.b.Unary(hlo::kAbs, largest), kInfinity, Order::kEq), N(l, x, 0), largest);
  const Op shifted = lazy::SubOps(l, x, KeepDims(l, largest, from, reduced));
  return l.b.Unary(hlo::kLog, l.Reduce(hlo::kAdd, l.b.Unary(hlo::kExponential, shifted), reduced)) + largest;
}

// Returns x as the given type, which the operation judges instead of x's own.
Tensor Converted(const lazy::Operation& operation, const Operand& x, std::optional<PrimitiveType> type) {
  const CallerScope scope(x.caller());
  const Tensor& given = lazy::TensorOf(operation, x);
  return type.has_value() ? given.To(*type) : given;
}

Tensor SoftmaxOf(const lazy::Operation& operation, const Operand& x, int64_t dim,
                 std::optional<PrimitiveType> type, bool log) {
  const Tensor converted = Converted(operation, x, type);
  return lazy::Unary(operation, Operand(converted, x.caller()), [&](Lowering& l, Op x) {
    return lazy::InWide(l, x, [&](Lowering& l, Op x) {
      const Dims from = l.dims(x), reduced = lazy::WrapDims(l, x, DimList(dim));
      const Op reduction = lazy::WithoutGradient(l, l.Reduce(hlo::kMaximum, x, reduced), x);
      const Op largest = KeepDims(l, reduction, from, reduced);
      const Op shifted = lazy::SubOps(l, x, largest), power = l.b.Unary(hlo::kExponential, shifted);
      const Op sum = KeepDims(l, l.Reduce(hlo::kAdd, power, reduced), from, reduced);
      return log ? lazy::SubOps(l, shifted, l.b.Unary(hlo::kLog, sum)) : lazy::DivOps(l, power, sum);
    });
  });
}

// Returns the order-th root of the sum of powers. Powers and roots are never taken of 0, where their
// derivatives are infinite.
Op PowerMeanOps(Lowering& l, Op size, double order, const Dims& reduced) {
  const bool varies = l.Varies(order, "order");
  const auto power = [&](Op x, double exponent) {
    const Op zero = CompareOps(l, x, 0, Order::kEq), safe = SelectOps(l, zero, N(l, x, 1), x);
    const Op by = varies ? l.Varying(l.type(x), exponent) : N(l, x, exponent);
    const Op raised = l.b.Binary(hlo::kPower, safe, by);
    return SelectOps(l, zero, N(l, x, exponent > 0 ? 0 : kInfinity), raised);
  };
  return power(SumOps(l, power(size, order), reduced), 1 / order);
}

}  // namespace

Tensor Prod(const Operand& x, DimList dims, bool keepdim) {
  return lazy::Unary(lazy::ops::Prod, x, [&](Lowering& l, Op x) {
    if (hlo::IsInteger(l.type(x))) x = l.Convert(x, hlo::kS64);
    const Dims reduced = lazy::WrapDims(l, x, dims);
    return l.Reshape(
        lazy::InWide(l, x, [&](Lowering& l, Op x) { return l.Reduce(hlo::kMultiply, x, reduced); }),
        Kept(l.dims(x), reduced, keepdim));
  });
}
Tensor Nansum(const Operand& x, DimList dims, bool keepdim) {
  return lazy::Unary(lazy::ops::Nansum, x, [&](Lowering& l, Op x) {
    if (hlo::IsInteger(l.type(x))) x = l.Convert(x, hlo::kS64);
    const Dims reduced = lazy::WrapDims(l, x, dims);
    const Op sum = SumOps(l, SelectOps(l, lazy::NanOps(l, x), N(l, x, 0), x), reduced);
    return l.Reshape(l.Convert(sum, l.type(x)), Kept(l.dims(x), reduced, keepdim));
  });
}
Tensor Nanmean(const Operand& x, DimList dims, bool keepdim) {
  return lazy::Unary(lazy::ops::Nanmean, x, [&](Lowering& l, Op x) {
    if (!hlo::IsFloat(l.type(x))) Refuse("nanmean takes floating types, not %s", hlo::Name(l.type(x)));
    const Dims reduced = lazy::WrapDims(l, x, dims);
    const Op nan = lazy::NanOps(l, x), sum = SumOps(l, SelectOps(l, nan, N(l, x, 0), x), reduced);
    const Op count = l.Reduce(hlo::kAdd, l.Convert(l.b.Unary(hlo::kNot, nan), l.type(sum)), reduced);
    return l.Reshape(l.Convert(sum / count, l.type(x)), Kept(l.dims(x), reduced, keepdim));
  });
}
Tensor CountNonzero(const Operand& x, DimList dims) {
  return lazy::Unary(lazy::ops::CountNonzero, x, [&](Lowering& l, Op x) {
    const Dims reduced = lazy::WrapDims(l, x, dims);
    return l.Reduce(hlo::kAdd, l.Convert(l.Convert(x, hlo::kPred), hlo::kS64), reduced);
  });
}
Tensor Logsumexp(const Operand& x, DimList dims, bool keepdim) {
  return lazy::Unary(lazy::ops::Logsumexp, x, [&](Lowering& l, Op x) {
    const Dims reduced = lazy::WrapDims(l, x, dims);
    const Op sum = lazy::InWide(l, x, [&](Lowering& l, Op x) { return LogSumExpOps(l, x, reduced); });
    return l.Reshape(sum, Kept(l.dims(x), reduced, keepdim));
  });
}
Tensor Var(const Operand& x, DimList dims, double correction, bool keepdim) {
  return Deviation(lazy::ops::Var, x, dims, correction, keepdim, false);
}
Tensor Std(const Operand& x, DimList dims, double correction, bool keepdim) {
  return Deviation(lazy::ops::Std, x, dims, correction, keepdim, true);
}
std::pair<Tensor, Tensor> VarMean(const Operand& x, DimList dims, double correction, bool keepdim) {
  return SpreadAndMean(lazy::ops::VarMean, x, dims, correction, keepdim, false);
}
std::pair<Tensor, Tensor> StdMean(const Operand& x, DimList dims, double correction, bool keepdim) {
  return SpreadAndMean(lazy::ops::StdMean, x, dims, correction, keepdim, true);
}
Tensor VectorNorm(const Operand& x, double order, DimList dims, bool keepdim,
                  std::optional<PrimitiveType> type) {
  return lazy::Unary(lazy::ops::VectorNorm, x, [&](Lowering& l, Op x) {
    if (type.has_value()) x = l.Convert(x, *type);
    if (!hlo::IsFloat(l.type(x)) && !hlo::IsComplex(l.type(x))) {
      Refuse("a norm takes floating and complex types, not %s", hlo::Name(l.type(x)));
    }
    const Dims reduced = lazy::WrapDims(l, x, dims);
    const Op size = l.b.Unary(hlo::kAbs, x);
    if (order == 2) {
      const Op wide = l.Convert(x, lazy::WideType(l.type(x)));
      const Op norm = lazy::RootOps(l, SumOps(l, lazy::SquaredSizeOps(l, wide), reduced));
      return l.Reshape(l.Convert(norm, l.type(size)), Kept(l.dims(x), reduced, keepdim));
    }
    const Op norm = lazy::InWide(l, size, [&](Lowering& l, Op size) {
      if (order == kInfinity) return l.Reduce(hlo::kMaximum, size, reduced);
      if (order == -kInfinity) return l.Reduce(hlo::kMinimum, size, reduced);
      if (order == 0) return SumOps(l, l.Convert(l.Convert(size, hlo::kPred), l.type(size)), reduced);
      if (order == 1) return SumOps(l, size, reduced);
      return PowerMeanOps(l, size, order, reduced);
    });
    return l.Reshape(norm, Kept(l.dims(x), reduced, keepdim));
  });
}
Tensor Trace(const Operand& x) {
  return lazy::Unary(lazy::ops::Trace, x, [&](Lowering& l, Op x) {
    const Dims from = l.dims(x);
    if (from.size() != 2) Refuse("a trace is of a matrix, not of shape %s", lazy::ListText(from));
    if (hlo::IsInteger(l.type(x))) x = l.Convert(x, hlo::kS64);
    const Shape index = Shape::Array(hlo::kS64, from);
    const Op diagonal = l.b.Compare(l.b.Iota(index, 0), l.b.Iota(index, 1), Order::kEq);
    return l.Convert(SumOps(l, SelectOps(l, diagonal, x, N(l, x, 0)), {0, 1}), l.type(x));
  });
}

Tensor Softmax(const Operand& x, int64_t dim, std::optional<PrimitiveType> type) {
  return SoftmaxOf(lazy::ops::Softmax, x, dim, type, false);
}
Tensor LogSoftmax(const Operand& x, int64_t dim, std::optional<PrimitiveType> type) {
  return SoftmaxOf(lazy::ops::LogSoftmax, x, dim, type, true);
}
Tensor Softmin(const Operand& x, int64_t dim, std::optional<PrimitiveType> type) {
  const Tensor converted = Converted(lazy::ops::Softmin, x, type);
  const Tensor negative = lazy::Unary(lazy::ops::Softmin, Operand(converted, x.caller()),
                                      [](Lowering& l, Op x) { return l.b.Unary(hlo::kNegate, x); });
  return Softmax(Operand(negative, x.caller()), dim);
}

}  // namespace hlod
