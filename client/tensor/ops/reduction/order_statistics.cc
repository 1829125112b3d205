// Order statistics: medians, quantiles, the most frequent element.
#include <algorithm>
#include <limits>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/indexing/sorting.h"
#include "client/tensor/ops/reduction/reduction.h"
#include "client/tensor/ops/reduction/scan.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/shape.h"
#include "hlod/ops/statistics.h"

namespace hlod {

using lazy::CompareOps;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;
using lazy::SelectOps;
using lazy::SliceDim;

namespace {

// Returns the number of elements along a dimension that are not NaN; the dimension is kept with size 1.
Op Numbers(Lowering& l, Op x, int64_t dim) {
  const Op number = l.Convert(l.b.Unary(hlo::kNot, lazy::NanOps(l, x)), hlo::kS64);
  return lazy::KeepDims(l, l.Reduce(hlo::kAdd, number, {dim}), l.dims(x), {dim});
}

ValuesAndIndices Pair(const std::vector<Tensor>& both) { return {both[0], both[1]}; }

// Returns the index of the median among the sorted elements, where NaN is last.
Op MiddlePlace(Lowering& l, Op x, int64_t dim, bool ignore_nan) {
  const int64_t size = l.dims(x)[dim];
  const Op numbers = Numbers(l, x, dim);
  const Dims dims = l.dims(numbers);
  if (!ignore_nan) {
    const Op nan = CompareOps(l, numbers, static_cast<double>(size), Order::kLt);
    return l.b.Select(nan, numbers, l.Full(hlo::kS64, dims, (size - 1) / 2));
  }
  const Op middle = (numbers - l.Number(hlo::kS64, 1)) / l.Number(hlo::kS64, 2);
  return l.b.Binary(hlo::kMaximum, middle, l.Full(hlo::kS64, dims, 0));
}

std::vector<Op> MedianOps(Lowering& l, Op x, int64_t dim, bool ignore_nan) {
  if (l.dims(x)[dim] == 0) Refuse("dimension %d of %s is empty", dim, lazy::ListText(l.dims(x)));
  const Op place = MiddlePlace(l, x, dim, ignore_nan);
  std::vector<Op> both = lazy::SortedWithIndex(l, x, dim, false);
  for (Op& op : both) op = lazy::GatherAlong(l, op, dim, place);
  return both;
}

// Calls `lower` along a dimension, which is kept (with size 1) or removed. For a scalar the result is the
// scalar, at index 0.
template <typename F>
ValuesAndIndices Along(const lazy::Operation& operation, const Operand& x, int64_t dim, bool keepdim,
                       F lower) {
  return Pair(lazy::CallSeveral(operation, {x}, [&](Lowering& l, Operands o) {
    const Dims dims = l.dims(o[0]);
    const int64_t at = lazy::WrapDim(dim, lazy::RankOf(l, o[0]));
    if (hlo::IsComplex(l.type(o[0]))) Refuse("complex numbers have no order");
    if (dims.empty()) return std::vector<Op>{o[0], l.Number(hlo::kS64, 0)};
    std::vector<Op> both = lower(l, o[0], at);
    for (Op& op : both) op = l.Reshape(op, lazy::Kept(dims, {at}, keepdim));
    return both;
  }));
}

Tensor MedianOfAll(const lazy::Operation& operation, const Operand& x, bool ignore_nan) {
  return lazy::Unary(operation, x, [&](Lowering& l, Op x) {
    const PrimitiveType type = l.type(x);
    if (hlo::IsComplex(type)) Refuse("complex numbers have no order");
    const Op flat = lazy::Flat(l, x);
    if (l.dims(flat)[0] == 0) {
      if (!hlo::IsFloat(type)) Refuse("a tensor without elements has no median");
      return l.Number(type, std::numeric_limits<double>::quiet_NaN());
    }
    // Equal elements share the gradient.
    return lazy::OwnDerivative(l, "equal_shares", {flat}, [&](Operands o) {
      return l.Reshape(MedianOps(l, o[0], 0, ignore_nan)[0], {});
    });
  });
}

// Returns the mode: in sorted order equal elements are adjacent, and the longest run is taken, at its end.
std::vector<Op> ModeOps(Lowering& l, Op x, int64_t dim) {
  const Dims dims = l.dims(x);
  const int64_t size = dims[dim];
  if (size == 0) Refuse("dimension %d of %s is empty", dim, lazy::ListText(dims));
  std::vector<Op> both = lazy::SortedWithIndex(l, x, dim, false);
  const Op position = lazy::IndexIota(l, dims, dim);
  const Op differs =
      l.b.Compare(SliceDim(l, both[0], dim, 1, size), SliceDim(l, both[0], dim, 0, size - 1), Order::kNe);
  const Op begins = lazy::PadDim(l, differs, l.Number(hlo::kPred, true), dim, {1, 0, 0});
  const Op begin =
      lazy::Prefixes(l, l.b.Select(begins, position, l.Full(hlo::kS64, dims, 0)), dim, hlo::kMaximum);
  const Op length = position - begin;
  const Op longest = lazy::KeepDims(l, l.Reduce(hlo::kMaximum, length, {dim}), dims, {dim});
  const Op is_longest = CompareOps(l, length, longest, Order::kEq);
  const Op first =
      l.Reduce(hlo::kMinimum, l.b.Select(is_longest, position, l.Full(hlo::kS64, dims, size)), {dim});
  const Op place = lazy::KeepDims(l, first, dims, {dim});
  for (Op& op : both) op = lazy::GatherAlong(l, op, dim, place);
  return both;
}

// Returns the order statistics of x at the ranks q (count - 1) along the last dimension: x [..., elements]
// and q [k] to [..., k].
Op QuantileOps(Lowering& l, Op x, Op q, QuantileInterpolation interpolation, bool ignore_nan) {
  const int64_t last = lazy::RankOf(l, x) - 1, size = l.dims(x)[last];
  const PrimitiveType type = l.type(x);
  Dims dims = l.dims(x);
  dims[last] = l.dims(q)[0];
  const Op numbers = l.BroadcastTo(Numbers(l, x, last), dims);
  const Op part = l.b.Broadcast(q, dims, {last});
  const Op greatest = l.Convert(numbers - l.Number(hlo::kS64, 1), type);
  Op rank = l.b.Binary(hlo::kMaximum, part * greatest, l.Full(type, dims, 0));
  // If there is a NaN, it is the result: it sorts last.
  if (!ignore_nan) {
    const Op nan = CompareOps(l, numbers, static_cast<double>(size), Order::kLt);
    rank = l.b.Select(nan, l.Full(type, dims, static_cast<double>(size - 1)), rank);
  }
  using enum QuantileInterpolation;
  const Op low = l.b.Unary(hlo::kFloor, rank), high = l.b.Unary(hlo::kCeil, rank);
  const Op operands[] = {x};
  const Op sorted = lazy::SortOps(l, operands, last, false)[0];
  const auto at = [&](Op place) { return lazy::GatherAlong(l, sorted, last, l.Convert(place, hlo::kS64)); };
  switch (interpolation) {
    case kLower: return at(low);
    case kHigher: return at(high);
    case kNearest: return at(l.b.Unary(hlo::kRoundNearestEven, rank));
    default: break;
  }
  const Op below = at(low), above = at(high), distance = above - below;
  const Op weight = interpolation == kMidpoint ? l.Full(type, dims, 0.5) : rank - low;
  // Interpolates from the nearer end, as Lerp() does.
  const Op from_above = above - distance * (l.Full(type, dims, 1) - weight);
  return l.b.Select(CompareOps(l, weight, 0.5, Order::kLt), below + distance * weight, from_above);
}

Tensor QuantileOf(const lazy::Operation& operation, const Operand& x, const Operand& q,
                  std::optional<int64_t> dim, bool keepdim, QuantileInterpolation interpolation,
                  bool ignore_nan) {
  return lazy::Binary(operation, x, q, [&](Lowering& l, Op x, Op q) {
    const PrimitiveType type = l.type(x);
    const Dims dims = l.dims(x), parts = l.dims(q);
    if (!hlo::IsFloat(type)) Refuse("quantiles are of floating types, not of %s", hlo::Name(type));
    if (l.type(q) != type) Refuse("q is %s, not %s as the tensor is", hlo::Name(l.type(q)), hlo::Name(type));
    if (parts.size() > 1) Refuse("q is a number or a vector, not of shape %s", lazy::ListText(parts));
    const int64_t rank = lazy::RankOf(l, x), at = lazy::WrapDim(dim.value_or(0), rank);
    const bool flat = !dim.has_value() || rank == 0;
    Op in = flat ? lazy::Flat(l, x) : lazy::MovedDim(l, x, at, rank - 1);
    if (l.dims(in).back() == 0) Refuse("there are no elements along the dimension");
    const PrimitiveType wide = lazy::WideType(type);
    Op result =
        QuantileOps(l, l.Convert(in, wide), lazy::Flat(l, l.Convert(q, wide)), interpolation, ignore_nan);
    result = lazy::MovedDim(l, l.Convert(result, type), lazy::RankOf(l, result) - 1, 0);
    Dims kept = flat ? Dims(keepdim ? rank : 0, 1) : lazy::Kept(dims, {at}, keepdim);
    kept.insert(kept.begin(), parts.begin(), parts.end());
    return l.Reshape(result, kept);
  });
}

void RequirePart(const lazy::Operation& operation, const Operand& q) {
  if (q.tensor() != nullptr) return;
  lazy::Explain(operation, {&q, 1}, q.caller(), [&] {
    const double part = q.scalar().ToDouble();
    if (!(part >= 0 && part <= 1)) Refuse("q (%g) is not between 0 and 1", part);
  });
}

}  // namespace

Tensor Median(const Operand& x) { return MedianOfAll(lazy::ops::Median, x, false); }
Tensor Nanmedian(const Operand& x) { return MedianOfAll(lazy::ops::Nanmedian, x, true); }
ValuesAndIndices Median(const Operand& x, int64_t dim, bool keepdim) {
  return Along(lazy::ops::Median, x, dim, keepdim,
               [](Lowering& l, Op x, int64_t dim) { return MedianOps(l, x, dim, false); });
}
ValuesAndIndices Nanmedian(const Operand& x, int64_t dim, bool keepdim) {
  return Along(lazy::ops::Nanmedian, x, dim, keepdim,
               [](Lowering& l, Op x, int64_t dim) { return MedianOps(l, x, dim, true); });
}
ValuesAndIndices Mode(const Operand& x, int64_t dim, bool keepdim) {
  return Along(lazy::ops::Mode, x, dim, keepdim, ModeOps);
}

Tensor Quantile(const Operand& x, const Operand& q, std::optional<int64_t> dim, bool keepdim,
                QuantileInterpolation interpolation) {
  RequirePart(lazy::ops::Quantile, q);
  return QuantileOf(lazy::ops::Quantile, x, q, dim, keepdim, interpolation, false);
}
Tensor Nanquantile(const Operand& x, const Operand& q, std::optional<int64_t> dim, bool keepdim,
                   QuantileInterpolation interpolation) {
  RequirePart(lazy::ops::Nanquantile, q);
  return QuantileOf(lazy::ops::Nanquantile, x, q, dim, keepdim, interpolation, true);
}

}  // namespace hlod
