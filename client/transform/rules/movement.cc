// Derivatives of opcodes that move elements. All are linear in the arrays whose elements they move.
#include <algorithm>
#include <limits>
#include <numeric>

#include "client/tensor/ops/shape/movement.h"
#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {
namespace {

// Applies the instruction to the tangent of operand 0; the other operands are indices.
Tangents OfFirst(const TangentArgs& c) {
  std::vector<Op> operands(c.x.begin(), c.x.end());
  operands[0] = c.t[0];
  return {c.l.b.Add(c.opcode, operands, c.attributes, c.called, &c.shape)};
}
// Applies the instruction to the tangents of operands 0 and 1; the others are indices.
Tangents OfFirstTwo(const TangentArgs& c) {
  std::vector<Op> operands(c.x.begin(), c.x.end());
  operands[0] = c.TangentOf(0);
  operands[1] = c.TangentOf(1);
  return {c.l.b.Add(c.opcode, operands, c.attributes, c.called, &c.shape)};
}

hlo::GatherAttributes GatherOf(const hlo::ScatterAttributes& s, const Shape& operand, const Shape& updates) {
  hlo::GatherAttributes g;
  g.offset_dims = s.update_window_dims;
  g.collapsed_slice_dims = s.inserted_window_dims;
  g.start_index_map = s.scatter_dims_to_operand_dims;
  g.operand_batching_dims = s.input_batching_dims;
  g.start_indices_batching_dims = s.scatter_indices_batching_dims;
  g.index_vector_dim = s.index_vector_dim;
  size_t next = 0;
  const auto contains = [](const Dims& dims, int64_t dim) {
    return std::find(dims.begin(), dims.end(), dim) != dims.end();
  };
  for (int64_t dim = 0; dim < static_cast<int64_t>(operand.dims.size()); ++dim) {
    const bool one = contains(s.inserted_window_dims, dim) || contains(s.input_batching_dims, dim);
    g.slice_sizes.push_back(one ? 1 : updates.dims[s.update_window_dims[next++]]);
  }
  return g;
}

// Returns a pred array, true for each element of the updates that is written: a scatter skips a window that
// is not within bounds.
Op IsWritten(Lowering& l, const hlo::ScatterAttributes& s, const Dims& operand, Op indices,
             const Shape& updates, const Dims& sizes) {
  Op starts = l.Convert(indices, hlo::kS64);
  Dims with = l.dims(starts);
  if (s.index_vector_dim == static_cast<int64_t>(with.size())) {
    with.push_back(1);
    starts = l.Reshape(starts, with);
  }
  Dims last;  // For each entry of an index vector, the greatest start.
  for (const int64_t dim : s.scatter_dims_to_operand_dims) last.push_back(operand[dim] - sizes[dim]);
  const Op most = l.b.Broadcast(IndexVector(l, last), with, {s.index_vector_dim});
  const Op inside =
      l.b.Binary(hlo::kAnd, l.b.Compare(starts, most, hlo::ComparisonDirection::kLe),
                 l.b.Compare(starts, l.Full(hlo::kS64, with, 0), hlo::ComparisonDirection::kGe));
  const Op all = l.Reduce(hlo::kAnd, inside, {s.index_vector_dim});
  Dims kept;
  for (int64_t dim = 0; dim < static_cast<int64_t>(updates.dims.size()); ++dim) {
    const Dims& windows = s.update_window_dims;
    if (std::find(windows.begin(), windows.end(), dim) == windows.end()) kept.push_back(dim);
  }
  return l.b.Broadcast(all, updates.dims, kept);
}

// Gathers, from an array like a scatter's result, the elements that the updates were written to; zeros for
// updates that were dropped.
Op GatherLike(Lowering& l, const hlo::ScatterAttributes& s, Op x, Op indices, const Shape& updates) {
  const hlo::GatherAttributes gather = GatherOf(s, l.shape(x), updates);
  const Op gathered = l.b.Add(hlo::kGather, {x, indices}, gather);
  const Op written = IsWritten(l, s, l.dims(x), indices, updates, gather.slice_sizes);
  return l.b.Select(written, gathered, Zeros(l, l.shape(gathered)));
}
Op ScatterAddLike(Lowering& l, const hlo::ScatterAttributes& s, Op x, Op indices, Op updates) {
  return l.b.Add(hlo::kScatter, {x, indices, updates}, s, {l.Reducer(hlo::kAdd, l.type(x))});
}

// For a scatter that multiplies, returns the other factors of each update's product: the old element and the
// other updates of the same element. This is the product of the nonzero factors divided by the update itself,
// times the other factors that are 0. One such factor is written as the sum of all less the update, which has
// its derivative; two and more are written as 0, whose first derivative is right.
Op ProductOfOthers(const TangentArgs& c, const hlo::ScatterAttributes& attributes) {
  using Order = hlo::ComparisonDirection;
  Lowering& l = c.l;
  const Op x = c.x[0], indices = c.x[1], updates = c.x[2];
  const Shape shape = l.shape(updates);
  const Op zero = l.b.Compare(updates, Zeros(l, shape), Order::kEq), one = l.Full(shape.type, shape.dims, 1);
  const Op nonzero = l.b.Select(zero, one, updates), only_zeros = l.b.Select(zero, updates, Zeros(l, shape));
  // Returns, for each update, what the others of its element add up to.
  const auto sum_of_others = [&](Op of, PrimitiveType type) {
    const Op sums = ScatterAddLike(l, attributes, l.Full(type, c.shape.dims, 0), indices, of);
    return GatherLike(l, attributes, sums, indices, shape) - of;
  };
  const Op others = sum_of_others(l.Convert(zero, hlo::kS32), hlo::kS32);
  const auto are = [&](int count) {
    return l.b.Compare(others, l.Full(hlo::kS32, shape.dims, count), Order::kEq);
  };
  const Op one_zero = l.b.Select(are(1), sum_of_others(only_zeros, shape.type), Zeros(l, shape));
  const Op product = l.b.Add(hlo::kScatter, {x, indices, nonzero}, attributes, c.called);
  return GatherLike(l, attributes, product, indices, shape) / nonzero * l.b.Select(are(0), one, one_zero);
}

// For a scatter that overwrites, returns a pred array that is true for the updates that last: one of several
// if indices repeat. To find them, the updates are numbered and the numbers are scattered in the same way; an
// update has lasted if its number is found in its place.
Op IsKept(Lowering& l, const hlo::ScatterAttributes& s, const Dims& operand, Op indices,
          const Shape& updates) {
  Dims scattered, kept;
  for (int64_t dim = 0; dim < updates.rank(); ++dim) {
    const Dims& windows = s.update_window_dims;
    if (std::find(windows.begin(), windows.end(), dim) != windows.end()) continue;
    scattered.push_back(updates.dims[dim]);
    kept.push_back(dim);
  }
  const Op count = IndexIota(l, {Count(scattered)}, 0);
  const Op numbers = l.b.Broadcast(l.Reshape(count, scattered), updates.dims, kept);
  const Op placed = ScatterWith(l, l.Full(hlo::kS64, operand, -1), indices, numbers, s, Combine::kSet);
  const Op found = l.b.Add(hlo::kGather, {placed, indices}, GatherOf(s, l.shape(placed), updates));
  return l.b.Compare(found, numbers, hlo::ComparisonDirection::kEq);
}

// The operands are: the array that is written to, indices, updates.
Tangents Scatter(const TangentArgs& c) {
  if (c.x.size() != 3) Refuse("a scatter of several operands has no derivative rule");
  Lowering& l = c.l;
  const auto& attributes = c.Get<hlo::ScatterAttributes>();
  const hlo::Opcode join = ReducerOpcode(c.called[0]);
  const Op x = c.x[0], indices = c.x[1], updates = c.x[2];
  const Shape updates_shape = l.shape(updates);
  switch (join) {
    case hlo::kAdd:
    case hlo::kSubtract:
    case hlo::kParameter: {
      const std::vector<Op> operands = {c.TangentOf(0), indices, c.TangentOf(2)};
      return {l.b.Add(hlo::kScatter, operands, attributes, c.called)};
    }
    case hlo::kMultiply: {
      Op sum;
      if (!IsZero(c.t[0])) sum = l.b.Add(hlo::kScatter, {c.t[0], indices, updates}, attributes, c.called);
      if (!IsZero(c.t[2])) {
        const Op rest = ProductOfOthers(c, attributes);
        sum = SumOf(l, sum, ScatterAddLike(l, attributes, Zeros(l, c.shape), indices, c.t[2] * rest));
      }
      return {sum};
    }
    case hlo::kMinimum:
    case hlo::kMaximum: {  // All elements that equal the extreme share the derivative equally.
      using Order = hlo::ComparisonDirection;
      const PrimitiveType type = c.shape.type;
      const Op here = l.Convert(l.b.Compare(x, c.y, Order::kEq), type);
      const Op there = l.Convert(
          l.b.Compare(updates, GatherLike(l, attributes, c.y, indices, updates_shape), Order::kEq), type);
      const Op count =
          l.b.Binary(hlo::kMaximum, ScatterAddLike(l, attributes, here, indices, there), l.Number(type, 1));
      Op sum;
      if (!IsZero(c.t[0])) sum = c.t[0] * here;
      if (!IsZero(c.t[2])) {
        sum = SumOf(l, sum, ScatterAddLike(l, attributes, Zeros(l, c.shape), indices, c.t[2] * there));
      }
      return {sum / count};
    }
    default: Refuse("a scatter with this computation has no derivative rule");
  }
}

Cotangents TScatter(const TransposeArgs& c) {
  Lowering& l = c.l;
  const auto& attributes = c.Get<hlo::ScatterAttributes>();
  const hlo::Opcode join = ReducerOpcode(c.called[0]);
  Cotangents all(3);
  if (c.IsLinear(0)) {
    all[0] = c.ct;
    if (join == hlo::kMultiply) {
      all[0] = l.b.Add(hlo::kScatter, {c.ct, c.x[1], c.x[2]}, attributes, c.called);
    } else if (join == hlo::kParameter) {
      all[0] = l.b.Add(hlo::kScatter, {c.ct, c.x[1], Zeros(l, *c.operands[2])}, attributes, c.called);
    }
  }
  if (!c.IsLinear(2)) return all;
  all[2] = GatherLike(l, attributes, c.ct, c.x[1], *c.operands[2]);
  if (join == hlo::kSubtract) all[2] = l.b.Unary(hlo::kNegate, all[2]);
  if (join == hlo::kParameter && !attributes.unique_indices && Count(c.operands[2]->dims) > 0) {
    const Op kept = IsKept(l, attributes, c.shape.dims, c.x[1], *c.operands[2]);
    all[2] = l.b.Select(kept, all[2], Zeros(l, *c.operands[2]));
  }
  return all;
}

// Returns the greatest number of an integer type, at most that of s64.
int64_t GreatestOf(PrimitiveType type) {
  const int bits = hlo::Info(type).bits - (hlo::IsSigned(type) ? 1 : 0);
  return bits >= 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1;
}

// Returns the starts of a gather's slices as the gather uses them: clamped so that each slice is within
// bounds.
Op StartsInside(Lowering& l, const hlo::GatherAttributes& g, const Dims& operand, Op indices) {
  const Dims dims = l.dims(indices);
  const PrimitiveType type = l.type(indices);
  Dims most;
  for (const int64_t dim : g.start_index_map) {
    most.push_back(std::min(operand[dim] - g.slice_sizes[dim], GreatestOf(type)));
  }
  if (most.empty()) return indices;
  const Op high = g.index_vector_dim == static_cast<int64_t>(dims.size())
                      ? l.Full(type, dims, most[0])
                      : l.b.Broadcast(l.Convert(IndexVector(l, most), type), dims, {g.index_vector_dim});
  return l.b.Clamp(l.Number(type, 0), indices, high);
}

Cotangents TGather(const TransposeArgs& c) {
  const auto& g = c.Get<hlo::GatherAttributes>();
  hlo::ScatterAttributes s;
  s.update_window_dims = g.offset_dims;
  s.inserted_window_dims = g.collapsed_slice_dims;
  s.scatter_dims_to_operand_dims = g.start_index_map;
  s.input_batching_dims = g.operand_batching_dims;
  s.scatter_indices_batching_dims = g.start_indices_batching_dims;
  s.index_vector_dim = g.index_vector_dim;
  s.indices_are_sorted = g.indices_are_sorted;
  const Op starts = StartsInside(c.l, g, c.operands[0]->dims, c.x[1]);
  return {ScatterAddLike(c.l, s, Zeros(c.l, *c.operands[0]), starts, c.ct), Op{}};
}

Cotangents TBroadcast(const TransposeArgs& c) {
  Lowering& l = c.l;
  // By operand dimension, the dimension of the result.
  const Dims& to = c.Get<hlo::DimensionsAttributes>().dimensions;
  Dims added;
  for (int64_t dim = 0; dim < static_cast<int64_t>(c.shape.dims.size()); ++dim) {
    if (std::find(to.begin(), to.end(), dim) == to.end()) added.push_back(dim);
  }
  const Op sum = l.Reduce(hlo::kAdd, c.ct, added);
  // The remaining dimensions are in the order of the result.
  Dims sorted = to, order;
  std::sort(sorted.begin(), sorted.end());
  for (const int64_t dim : to) {
    order.push_back(std::find(sorted.begin(), sorted.end(), dim) - sorted.begin());
  }
  return {Permuted(l, sum, order)};
}

Cotangents TReshape(const TransposeArgs& c) { return {c.l.Reshape(c.ct, c.operands[0]->dims)}; }
Cotangents TTranspose(const TransposeArgs& c) {
  const Dims& permutation = c.Get<hlo::DimensionsAttributes>().dimensions;
  Dims inverse(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) inverse[permutation[i]] = static_cast<int64_t>(i);
  return {c.l.b.Transpose(c.ct, inverse)};
}
Cotangents TReverse(const TransposeArgs& c) { return {c.l.b.Add(hlo::kReverse, {c.ct}, c.attributes)}; }

Cotangents TSlice(const TransposeArgs& c) {
  const auto& slice = c.Get<hlo::SliceAttributes>();
  const Dims &from = c.operands[0]->dims, &to = c.shape.dims;
  std::vector<hlo::PadDimension> padding(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t stride = slice.stride.empty() ? 1 : slice.stride[i];
    const int64_t reach = to[i] == 0 ? 0 : (to[i] - 1) * stride + 1;
    padding[i] = {slice.start[i], from[i] - slice.start[i] - reach, stride - 1};
  }
  return {c.l.b.Pad(c.ct, c.l.Number(c.shape.type, 0), padding)};
}

absl::Span<const Op> Starts(const TransposeArgs& c, size_t first) { return c.x.subspan(first); }

Cotangents TDynamicSlice(const TransposeArgs& c) {
  Cotangents all(c.x.size());
  all[0] = c.l.b.DynamicUpdateSlice(Zeros(c.l, *c.operands[0]), c.ct, Starts(c, 1));
  return all;
}
Cotangents TDynamicUpdateSlice(const TransposeArgs& c) {
  Cotangents all(c.x.size());
  if (c.IsLinear(0)) all[0] = c.l.b.DynamicUpdateSlice(c.ct, Zeros(c.l, *c.operands[1]), Starts(c, 2));
  if (c.IsLinear(1)) all[1] = c.l.b.DynamicSlice(c.ct, Starts(c, 2), c.operands[1]->dims);
  return all;
}

Cotangents TPad(const TransposeArgs& c) {
  Lowering& l = c.l;
  const auto& padding = c.Get<hlo::PadAttributes>().dimensions;
  const Dims& from = c.operands[0]->dims;
  std::vector<hlo::PadDimension> back(from.size());
  Dims start(from.size(), 0), stride(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    back[i] = {-padding[i].low, -padding[i].high, 0};
    stride[i] = padding[i].interior + 1;
  }
  const Op cut = l.b.Pad(c.ct, l.Number(c.shape.type, 0), back);
  const Op inner = l.b.Slice(cut, start, l.dims(cut), stride);
  Cotangents all(2);
  if (c.IsLinear(0)) all[0] = inner;
  if (c.IsLinear(1)) {
    const auto total = [&](Op x) { return l.Reduce(hlo::kAdd, x, WrapDims({}, RankOf(l, x))); };
    all[1] = total(c.ct) - total(inner);
  }
  return all;
}

Cotangents TConcatenate(const TransposeArgs& c) {
  const int64_t dim = c.Get<hlo::DimensionsAttributes>().dimensions[0];
  Cotangents all;
  int64_t start = 0;
  for (size_t i = 0; i < c.x.size(); ++i) {
    const int64_t limit = start + c.operands[i]->dims[dim];
    all.push_back(c.IsLinear(i) ? SliceDim(c.l, c.ct, dim, start, limit) : Op{});
    start = limit;
  }
  return all;
}

// Sorts positions along with the operands to get the order, and gathers each tangent in that order.
Tangents Sort(const TangentArgs& c) {
  Lowering& l = c.l;
  const auto& sort = c.Get<hlo::SortAttributes>();
  const size_t count = c.x.size();
  const Dims dims = l.dims(c.x[0]);
  const hlo::Computation& comparator = TraceTables::Get().callees().computation(c.called[0]);
  const hlo::ComputationId with_position = TraceTables::Get().Callee("before", [&](hlo::Builder& b) {
    std::vector<Op> copies(comparator.size());
    for (NodeId node = 0; node < comparator.size(); ++node) {
      const hlo::Instruction instruction = comparator[node];
      std::vector<Op> operands;
      for (const NodeId operand : instruction.operands()) operands.push_back(copies[operand]);
      const Shape shape = instruction.shape();
      copies[node] =
          b.Add(instruction.opcode(), operands, instruction.attributes(), instruction.called(), &shape);
    }
    for (const int64_t i : {0, 1}) {
      b.Parameter(static_cast<int64_t>(2 * count) + i, Shape::Scalar(hlo::kS64));
    }
    return copies[comparator.root_id()];
  });
  std::vector<Op> operands(c.x.begin(), c.x.end());
  operands.push_back(IndexIota(l, dims, sort.dimension));
  const Op sorted = l.b.Add(hlo::kSort, operands, hlo::SortAttributes{sort.dimension, true}, {with_position});
  const Op order = l.b.GetTupleElement(sorted, static_cast<int64_t>(count));
  Tangents all;
  for (size_t i = 0; i < count; ++i) {
    all.push_back(IsZero(c.t[i]) ? Op{} : GatherAlong(l, c.t[i], sort.dimension, order));
  }
  return all;
}

Tangents TopK(const TangentArgs& c) {
  const Op order = c.l.Convert(c.l.b.GetTupleElement(c.y, 1), hlo::kS64);
  return {GatherAlong(c.l, c.t[0], RankOf(c.l, c.x[0]) - 1, order), Op{}};
}

}  // namespace

void AddMovementRules(Rules& rules) {
  struct Row {
    hlo::Opcode opcode;
    TangentRule tangent;
    TransposeRule transpose;
  };
  static constexpr Row kRows[] = {
      {hlo::kBroadcast, LinearInAll, TBroadcast},
      {hlo::kReshape, LinearInAll, TReshape},
      {hlo::kTranspose, LinearInAll, TTranspose},
      {hlo::kReverse, LinearInAll, TReverse},
      {hlo::kSlice, LinearInAll, TSlice},
      {hlo::kDynamicSlice, OfFirst, TDynamicSlice},
      {hlo::kDynamicUpdateSlice, OfFirstTwo, TDynamicUpdateSlice},
      {hlo::kPad, LinearInAll, TPad},
      {hlo::kConcatenate, LinearInAll, TConcatenate},
      {hlo::kGather, OfFirst, TGather},
      {hlo::kScatter, Scatter, TScatter},
      {hlo::kSort, Sort, nullptr},
      {hlo::kTopK, TopK, nullptr},
  };
  for (const Row& row : kRows) {
    rules.tangent[static_cast<size_t>(row.opcode)] = row.tangent;
    rules.transpose[static_cast<size_t>(row.opcode)] = row.transpose;
  }
}

}  // namespace hlod::lazy
