// Counting elements in bins.
#include <algorithm>
#include <cmath>

#include "client/tensor/ops/dynamic.h"
#include "client/tensor/ops/elementwise.h"
#include "client/tensor/ops/movement.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/statistics.h"

namespace hlod {

using lazy::Combine;
using lazy::CompareOps;
using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;
using lazy::TensorOf;

namespace {

// The bounds of the bins as scalars of x's type.
std::pair<Op, Op> BoundsOf(Lowering& l, Op x, double min, double max) {
  const PrimitiveType type = l.type(x);
  Op low = l.Number(type, min), high = l.Number(type, max);
  if (min == 0 && max == 0 && l.dims(x)[0] > 0) {
    low = l.Reduce(hlo::kMinimum, x, {0});
    high = l.Reduce(hlo::kMaximum, x, {0});
  }
  // All elements are one number: bins from 1 below to 1 above it.
  const Op one = l.Number(type, 1), same = l.b.Compare(low, high, Order::kEq);
  return {l.b.Select(same, low - one, low), l.b.Select(same, high + one, high)};
}

Op HistcOps(Lowering& l, Op x, int64_t bins, double min, double max) {
  const Dims dims = l.dims(x);
  const PrimitiveType type = l.type(x);
  const auto [low, high] = BoundsOf(l, x, min, max);
  const Op inside =
      l.b.Binary(hlo::kAnd, CompareOps(l, x, low, Order::kGe), CompareOps(l, x, high, Order::kLe));
  const Op place =
      l.b.Unary(hlo::kFloor, (x - low) * l.Number(type, static_cast<double>(bins)) / (high - low));
  // The last bin has both its ends. What is outside goes past the bins, where a scatter writes nothing.
  const Op last =
      l.b.Binary(hlo::kMinimum, l.Convert(l.b.Select(inside, place, l.Full(type, dims, 0)), hlo::kS64),
                 l.Full(hlo::kS64, dims, bins - 1));
  const Op index = l.b.Select(inside, last, l.Full(hlo::kS64, dims, bins));
  return lazy::ScatterAlong(l, l.Full(type, {bins}, 0), 0, index, l.Full(type, dims, 1), Combine::kAdd);
}

Tensor Counted(const Operand& x, int64_t length, const Tensor& weights) {
  std::vector<Operand> operands = {x};
  if (weights.defined()) operands.emplace_back(weights, x.caller());
  return lazy::Call(lazy::ops::Bincount, operands, [&](Lowering& l, Operands o) {
    lazy::RequireIndex(l, o[0]);
    if (length < 0) Refuse("the length (%d) is negative", length);
    const Dims dims = l.dims(o[0]);
    if (dims.size() != 1) Refuse("a vector is needed, not of shape %s", ListText(dims));
    Op weight = l.Full(hlo::kS64, dims, 1);
    if (o.size() == 2) {
      if (l.dims(o[1]) != dims)
        Refuse("weights of shape %s are not one for each of %d", ListText(l.dims(o[1])), dims[0]);
      // As PyTorch: f32 stays, all others are added up in f64.
      weight = l.Convert(o[1], l.type(o[1]) == hlo::kF32 ? hlo::kF32 : hlo::kF64);
    }
    const Op index = l.Convert(o[0], hlo::kS64);
    return lazy::ScatterAlong(l, l.Full(l.type(weight), {length}, 0), 0, index, weight, Combine::kAdd);
  });
}

}  // namespace

Tensor Histc(const Operand& x, int64_t bins, double min, double max) {
  return lazy::Unary(lazy::ops::Histc, x, [&](Lowering& l, Op x) {
    if (!hlo::IsFloat(l.type(x))) Refuse("elements are of a floating type, not %s", hlo::Name(l.type(x)));
    if (bins <= 0) Refuse("the number of bins (%d) must be positive", bins);
    if (!(min <= max) || !std::isfinite(min) || !std::isfinite(max)) {
      Refuse("bins from %g to %g are not a finite range", min, max);
    }
    return lazy::InWide(l, lazy::Flat(l, x),
                        [&](Lowering& l, Op x) { return HistcOps(l, x, bins, min, max); });
  });
}

Tensor Bincount(const Operand& x, const Tensor& weights, int64_t minlength) {
  const lazy::Operation& operation = lazy::ops::Bincount;
  const Tensor& tensor = TensorOf(operation, x);
  int64_t length = 0;
  lazy::Explain(operation, {&x, 1}, x.caller(), [&] {
    if (minlength < 0) Refuse("the least length (%d) is negative", minlength);
    if (tensor.rank() != 1) Refuse("a vector is needed, not of shape %s", ListText(tensor.dims()));
  });
  if (tensor.numel() > 0) {
    const Tensor ends = lazy::Unary(operation, x, [](Lowering& l, Op x) {
      lazy::RequireIndex(l, x);
      x = l.Convert(x, hlo::kS64);
      const Op both[] = {l.Reshape(l.Reduce(hlo::kMinimum, x, {0}), {1}),
                         l.Reshape(l.Reduce(hlo::kMaximum, x, {0}), {1})};
      return lazy::Joined(l, both, 0);
    });
    const std::vector<int64_t> read = lazy::ReadSizes(operation, ends, x.caller());
    lazy::Explain(operation, {&x, 1}, x.caller(), [&] {
      if (read[0] < 0) Refuse("element %d is negative", read[0]);
    });
    length = read[1] + 1;
  }
  return Counted(x, std::max(length, minlength), weights);
}
Tensor BincountBounded(const Operand& x, int64_t length, const Tensor& weights) {
  return Counted(x, length, weights);
}

}  // namespace hlod
