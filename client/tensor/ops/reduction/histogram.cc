// Counting elements in bins.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/indexing/sorting.h"
#include "client/tensor/ops/shape/dynamic.h"
#include "client/tensor/ops/shape/movement.h"
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

// Returns the bounds of the bins as scalars of x's type.
std::pair<Op, Op> BoundsOf(Lowering& l, Op x, double min, double max) {
  const PrimitiveType type = l.type(x);
  Op low = l.Setting(type, min, "min"), high = l.Setting(type, max, "max");
  if (min == 0 && max == 0 && l.dims(x)[0] > 0) {
    low = l.Reduce(hlo::kMinimum, x, {0});
    high = l.Reduce(hlo::kMaximum, x, {0});
  }
  // When all elements are equal, the bins extend from 1 below to 1 above them.
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
  // The last bin includes its end. Elements outside get an index past the bins, which a scatter ignores.
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
      // Weights of f32 are added up in f32, all others in f64, as in PyTorch.
      weight = l.Convert(o[1], l.type(o[1]) == hlo::kF32 ? hlo::kF32 : hlo::kF64);
    }
    const Op index = l.Convert(o[0], hlo::kS64);
    return lazy::ScatterAlong(l, l.Full(l.type(weight), {length}, 0), 0, index, weight, Combine::kAdd);
  });
}

// Returns the edges of the bins as PyTorch's linspace computes them: from both ends to the middle.
Op EdgesOf(Lowering& l, Op low, Op high, int64_t bins) {
  const PrimitiveType type = l.type(low);
  const Dims dims = {bins + 1};
  const Op half = l.Number(type, 0.5), same = l.b.Compare(low, high, Order::kEq);
  const Op first = l.b.Select(same, low - half, low), last = l.b.Select(same, high + half, high);
  const Op step = (last - first) / l.Number(type, static_cast<double>(bins));
  const Op index = lazy::IndexIota(l, dims, 0);
  const Op up = lazy::AddOps(l, lazy::MulOps(l, l.Convert(index, type), step), first);
  const Op left = l.Convert(l.Full(hlo::kS64, dims, bins) - index, type);
  const Op down = lazy::SubOps(l, last, lazy::MulOps(l, left, step));
  return l.b.Select(CompareOps(l, index, static_cast<double>(bins + 1) / 2, Order::kLt), up, down);
}

using Range = std::optional<std::pair<double, double>>;

void RequireRange(const Range& range) {
  if (!range.has_value()) return;
  if (!(range->first <= range->second) || !std::isfinite(range->first) || !std::isfinite(range->second)) {
    Refuse("bins from %g to %g are not a finite range", range->first, range->second);
  }
}

// Returns the edges of `bins` equal bins of column `column` of the points x, [n, d].
Op EqualEdges(Lowering& l, Op x, int64_t column, int64_t bins, const Range& range) {
  if (bins <= 0) Refuse("the number of bins (%d) must be positive", bins);
  RequireRange(range);
  const PrimitiveType type = l.type(x);
  if (range.has_value()) return EdgesOf(l, l.Number(type, range->first), l.Number(type, range->second), bins);
  if (l.dims(x)[0] == 0) return EdgesOf(l, l.Number(type, 0), l.Number(type, 1), bins);
  const Op values = lazy::SliceDim(l, x, 1, column, column + 1);
  return EdgesOf(l, l.Reduce(hlo::kMinimum, values, {0, 1}), l.Reduce(hlo::kMaximum, values, {0, 1}), bins);
}

// Returns the number of points x, [n, d], in each box between the edges, or the sum of their weights.
Op BoxesOps(Lowering& l, Op x, absl::Span<const Op> edges, std::optional<Op> weight, bool density) {
  const PrimitiveType type = l.type(x);
  const Dims points = {l.dims(x)[0]};
  Dims sizes;
  Op place = l.Full(hlo::kS64, points, 0), valid = l.Full(hlo::kPred, points, true);
  for (size_t i = 0; i < edges.size(); ++i) {
    const auto column = static_cast<int64_t>(i);
    if (l.dims(edges[i]).size() != 1 || l.dims(edges[i])[0] < 2) {
      Refuse("edges of shape %s are not a vector of two or more", ListText(l.dims(edges[i])));
    }
    if (l.type(edges[i]) != type)
      Refuse("types %s and %s differ", hlo::Name(type), hlo::Name(l.type(edges[i])));
    const int64_t bins = l.dims(edges[i])[0] - 1;
    const Op values = l.Reshape(lazy::SliceDim(l, x, 1, column, column + 1), points);
    const Op last = l.Reshape(lazy::SliceDim(l, edges[i], 0, bins, bins + 1), {});
    const Op before = lazy::SearchOps(l, edges[i], values, true) - l.Number(hlo::kS64, 1);
    const Op bin = l.b.Binary(hlo::kMinimum, before, l.Full(hlo::kS64, points, bins - 1));
    // NaN sorts after all edges and is not equal to any number.
    const Op inside =
        l.b.Binary(hlo::kAnd, CompareOps(l, before, 0, Order::kGe), CompareOps(l, values, last, Order::kLe));
    valid = l.b.Binary(hlo::kAnd, valid, inside);
    place = place * l.Number(hlo::kS64, bins) + bin;
    sizes.push_back(bins);
  }
  const int64_t count = lazy::Count(sizes);
  // Points outside get an index past the bins, which a scatter ignores.
  const Op index = l.b.Select(valid, place, l.Full(hlo::kS64, points, count));
  const Op one = weight.has_value() ? *weight : l.Full(type, points, 1);
  Op counts = l.Reshape(lazy::ScatterAlong(l, l.Full(type, {count}, 0), 0, index, one, Combine::kAdd), sizes);
  if (!density) return counts;
  Dims all;
  for (size_t i = 0; i < sizes.size(); ++i) all.push_back(static_cast<int64_t>(i));
  counts = lazy::DivOps(l, counts, l.Reduce(hlo::kAdd, counts, all));
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Op widths =
        lazy::SliceDim(l, edges[i], 0, 1, sizes[i] + 1) - lazy::SliceDim(l, edges[i], 0, 0, sizes[i]);
    counts = counts / l.b.Broadcast(widths, sizes, {static_cast<int64_t>(i)});
  }
  return counts;
}

// Counts points in bins: between `edges`, or in `bins` equal parts per column. Without `of_points` each
// element is a point with one coordinate. Returns the counts, then the edges.
std::vector<Tensor> Histogrammed(const Operand& x, const Dims& bins, const std::vector<Operand>& edges,
                                 const std::vector<Range>& ranges, const Tensor& weight, bool density,
                                 bool of_points) {
  std::vector<Operand> operands = {x};
  operands.insert(operands.end(), edges.begin(), edges.end());
  if (weight.defined()) operands.emplace_back(weight, x.caller());
  return lazy::CallSeveral(lazy::ops::Histogram, operands, [&](Lowering& l, Operands o) {
    Dims outer = l.dims(o[0]);
    const PrimitiveType type = l.type(o[0]);
    if (!hlo::IsFloat(type)) Refuse("elements are of a floating type, not %s", hlo::Name(type));
    const auto columns = static_cast<int64_t>(std::max(bins.size(), edges.size()));
    if (of_points) {
      if (outer.empty() || outer.back() != columns) {
        Refuse("points of shape %s do not have %d coordinates", ListText(outer), columns);
      }
      outer.pop_back();
    }
    const Op points = l.Reshape(o[0], {lazy::Count(outer), of_points ? columns : 1});
    std::vector<Op> of_columns(o.begin() + 1, o.begin() + 1 + static_cast<int64_t>(edges.size()));
    if (!ranges.empty() && static_cast<int64_t>(ranges.size()) != columns) {
      Refuse("%d ranges are not one for each of %d coordinates", ranges.size(), columns);
    }
    for (size_t i = 0; i < bins.size(); ++i) {
      of_columns.push_back(
          EqualEdges(l, points, static_cast<int64_t>(i), bins[i], ranges.empty() ? Range{} : ranges[i]));
    }
    std::optional<Op> weights;
    if (weight.defined()) {
      if (l.dims(o.back()) != outer) {
        Refuse("weights of shape %s are not one for each point of %s", ListText(l.dims(o.back())),
               ListText(outer));
      }
      weights = l.Convert(l.Reshape(o.back(), {lazy::Count(outer)}), type);
    }
    std::vector<Op> results = {BoxesOps(l, points, of_columns, weights, density)};
    for (const Op edge : of_columns) results.push_back(l.b.Unary(hlo::kCopy, edge));
    return results;
  });
}

std::vector<Range> RangesOf(const std::vector<std::pair<double, double>>& ranges) {
  return std::vector<Range>(ranges.begin(), ranges.end());
}
HistogramddParts PartsOf(std::vector<Tensor> results) {
  return {results[0], std::vector<Tensor>(results.begin() + 1, results.end())};
}

}  // namespace

HistogramParts Histogram(const Operand& x, int64_t bins, const HistogramOptions& options) {
  const std::vector<Tensor> parts =
      Histogrammed(x, {bins}, {}, {options.range}, options.weight, options.density, false);
  return {parts[0], parts[1]};
}
HistogramParts Histogram(const Operand& x, const Operand& edges, const HistogramOptions& options) {
  const std::vector<Tensor> parts = Histogrammed(x, {}, {edges}, {}, options.weight, options.density, false);
  return {parts[0], parts[1]};
}
HistogramddParts Histogramdd(const Operand& x, DimList bins, const HistogramddOptions& options) {
  return PartsOf(Histogrammed(x, lazy::Copied(bins), {}, RangesOf(options.range), options.weight,
                              options.density, true));
}
HistogramddParts Histogramdd(const Operand& x, const std::vector<Tensor>& edges,
                             const HistogramddOptions& options) {
  return PartsOf(
      Histogrammed(x, {}, lazy::OperandsOf(edges, x.caller()), {}, options.weight, options.density, true));
}

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
