// Lowerings that move elements.
#include "client/tensor/ops/shape/movement.h"

#include <algorithm>
#include <utility>

#include "client/tensor/ops/shape/empty.h"

namespace hlod::lazy {
namespace {

// Refuses at once what the builder refused. Its op has no dimensions, by which callers would index.
Op Unrefused(Lowering& l, Op op) {
  if (!l.b.status().ok()) throw Refusal{l.b.TakeStatus()};
  return op;
}

}  // namespace

Op KeptLast(Lowering& l, Op x) {
  Dims dims = l.dims(x);
  dims.push_back(1);
  return l.Reshape(x, dims);
}

Op SliceDim(Lowering& l, Op x, int64_t dim, int64_t start, int64_t limit, int64_t stride) {
  const Dims dims = l.dims(Unrefused(l, x));
  if (start == 0 && limit == dims[dim] && stride == 1) return x;
  Dims starts(dims.size(), 0), limits = dims, strides(dims.size(), 1);
  starts[dim] = start;
  limits[dim] = limit;
  strides[dim] = stride;
  return Unrefused(l, l.b.Slice(x, starts, limits, strides));
}

Op PadDim(Lowering& l, Op x, Op value, int64_t dim, hlo::PadDimension amount) {
  if (amount == hlo::PadDimension{}) return x;
  std::vector<hlo::PadDimension> padding(l.dims(Unrefused(l, x)).size());
  padding[dim] = amount;
  return Unrefused(l, l.b.Pad(x, value, padding));
}

Op Permuted(Lowering& l, Op x, const Dims& permutation) {
  return std::is_sorted(permutation.begin(), permutation.end()) ? x : l.b.Transpose(x, permutation);
}

Op Reversed(Lowering& l, Op x, const Dims& dimensions) {
  return dimensions.empty() ? x : l.b.Add(hlo::kReverse, {x}, hlo::DimensionsAttributes{dimensions});
}

Op Joined(Lowering& l, absl::Span<const Op> parts, int64_t dim) {
  return parts.size() == 1 ? parts[0] : Unrefused(l, l.b.Concatenate(parts, dim));
}

Op MovedDim(Lowering& l, Op x, int64_t dim, int64_t to) {
  Dims order;
  for (int64_t i = 0; i < static_cast<int64_t>(l.dims(x).size()); ++i) {
    if (i != dim) order.push_back(i);
  }
  order.insert(order.begin() + to, dim);
  return Permuted(l, x, order);
}

Op InBatch(Lowering& l, Op x, const Dims& batch) {
  Dims to = batch;
  const Dims& from = l.dims(x);
  to.insert(to.end(), from.end() - 2, from.end());
  return l.BroadcastTo(x, to);
}

Op IndexVector(Lowering& l, absl::Span<const int64_t> values) {
  Literal literal(Shape::Array(hlo::kS64, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), literal.data<int64_t>().begin());
  return l.b.Constant(std::move(literal));
}

Op IndexIota(Lowering& l, const Dims& dims, int64_t dim) {
  return l.b.Iota(Shape::Array(hlo::kS64, dims), dim);
}

Op WrapNegative(Lowering& l, Op index, int64_t size) {
  const PrimitiveType type = l.type(index);
  if (!hlo::IsSigned(type)) return index;
  const Op negative = l.b.Compare(index, l.Number(type, 0), hlo::ComparisonDirection::kLt);
  return l.b.Select(negative, index + l.Number(type, size), index);
}

void RequireIndex(Lowering& l, Op index) {
  if (!hlo::IsInteger(l.type(index))) {
    Refuse("an index must be a tensor of integers, not of %s", hlo::Name(l.type(index)));
  }
}

Op SelectSlices(Lowering& l, Op x, int64_t dim, Op index) {
  RequireIndex(l, index);
  const Dims from = l.dims(x);
  const auto added = static_cast<int64_t>(l.dims(index).size());
  hlo::GatherAttributes gather;
  for (int64_t i = 0; i < static_cast<int64_t>(from.size()); ++i) {
    if (i != dim) gather.offset_dims.push_back(i < dim ? i : i + added - 1);
  }
  gather.collapsed_slice_dims = {dim};
  gather.start_index_map = {dim};
  gather.index_vector_dim = added;
  gather.slice_sizes = from;
  gather.slice_sizes[dim] = 1;
  if (from[dim] == 0) {
    if (Count(l.dims(index)) > 0) Refuse("dimension %d has no elements to take", dim);
    Dims none = from;
    none.erase(none.begin() + dim);
    const Dims& index_dims = l.dims(index);
    none.insert(none.begin() + dim, index_dims.begin(), index_dims.end());
    return WithoutElements(l, x, none);
  }
  return l.b.Add(hlo::kGather, {x, index}, gather);
}

Op GatherAlong(Lowering& l, Op x, int64_t dim, Op index) {
  RequireIndex(l, index);
  const Dims to = l.dims(index);
  const auto rank = static_cast<int64_t>(l.dims(x).size());
  if (rank != static_cast<int64_t>(to.size())) {
    Refuse("the index's shape %s has not the tensor's rank %d", ListText(to), rank);
  }
  if (rank == 0) return x;
  if (Count(to) == 0) return WithoutElements(l, x, to);
  hlo::GatherAttributes gather;
  for (int64_t i = 0; i < rank; ++i) {
    if (i == dim) continue;
    if (to[i] > l.dims(x)[i]) {
      Refuse("the index's size %d of dimension %d exceeds the tensor's %d", to[i], i, l.dims(x)[i]);
    }
    x = SliceDim(l, x, i, 0, to[i]);
    gather.operand_batching_dims.push_back(i);
    gather.start_indices_batching_dims.push_back(i);
  }
  if (l.dims(x)[dim] == 0) Refuse("dimension %d has no elements to gather", dim);
  gather.collapsed_slice_dims = {dim};
  gather.start_index_map = {dim};
  gather.index_vector_dim = rank;
  gather.slice_sizes = Dims(rank, 1);
  return l.b.Add(hlo::kGather, {x, index}, gather);
}

namespace {

hlo::ComputationId Combiner(Combine combine, PrimitiveType type) {
  switch (combine) {
    case Combine::kAdd: return TraceTables::Get().Reducer(type == hlo::kPred ? hlo::kOr : hlo::kAdd, type);
    case Combine::kMultiply:
      return TraceTables::Get().Reducer(type == hlo::kPred ? hlo::kAnd : hlo::kMultiply, type);
    case Combine::kMinimum: return TraceTables::Get().Reducer(hlo::kMinimum, type);
    case Combine::kMaximum: return TraceTables::Get().Reducer(hlo::kMaximum, type);
    case Combine::kSet: break;
  }
  return TraceTables::Get().Callee("set", [&](hlo::Builder& b) {
    b.Parameter(0, Shape::Scalar(type));
    return b.Parameter(1, Shape::Scalar(type));
  });
}

}  // namespace

Op ScatterWith(Lowering& l, Op x, Op index, Op updates, hlo::ScatterAttributes attributes, Combine combine) {
  if (Count(l.dims(updates)) == 0 || Count(l.dims(x)) == 0) {
    // The result is x, but a function of the updates, too, which so have a gradient.
    const Op none = SliceDim(l, Flat(l, updates), 0, 0, 0);
    return l.Reshape(Joined(l, {Flat(l, x), none}, 0), l.dims(x));
  }
  return l.b.Add(hlo::kScatter, {x, index, updates}, std::move(attributes), {Combiner(combine, l.type(x))});
}

Op ScatterAlong(Lowering& l, Op x, int64_t dim, Op index, Op source, Combine combine) {
  RequireIndex(l, index);
  const Dims dims = l.dims(x), at = l.dims(index);
  const auto rank = static_cast<int64_t>(dims.size());
  if (rank != static_cast<int64_t>(at.size()) || rank != static_cast<int64_t>(l.dims(source).size())) {
    Refuse("the tensor's shape %s, the index's %s and the source's %s differ in rank", ListText(dims),
           ListText(at), ListText(l.dims(source)));
  }
  if (rank == 0) {
    const Op flat =
        ScatterAlong(l, l.Reshape(x, {1}), 0, l.Reshape(index, {1}), l.Reshape(source, {1}), combine);
    return l.Reshape(flat, {});
  }
  bool same = true;
  for (int64_t i = 0; i < rank; ++i) {
    if (at[i] > l.dims(source)[i] || (i != dim && at[i] > dims[i])) {
      Refuse("the index's size %d of dimension %d exceeds that of the tensor's shape %s or the source's %s",
             at[i], i, ListText(dims), ListText(l.dims(source)));
    }
    same = same && (i == dim || at[i] == dims[i]);
    source = SliceDim(l, source, i, 0, at[i]);
  }
  hlo::ScatterAttributes scatter;
  scatter.index_vector_dim = rank;
  if (same) {  // The other dimensions are batch dimensions.
    for (int64_t i = 0; i < rank; ++i) {
      if (i == dim) continue;
      scatter.input_batching_dims.push_back(i);
      scatter.scatter_indices_batching_dims.push_back(i);
    }
    scatter.inserted_window_dims = {dim};
    scatter.scatter_dims_to_operand_dims = {dim};
    return ScatterWith(l, x, index, source, scatter, combine);
  }
  Dims column = at;
  column.push_back(1);
  std::vector<Op> columns;
  for (int64_t i = 0; i < rank; ++i) {
    const Op coordinate = i == dim ? l.Convert(index, hlo::kS64) : IndexIota(l, at, i);
    columns.push_back(l.Reshape(coordinate, column));
    scatter.inserted_window_dims.push_back(i);
    scatter.scatter_dims_to_operand_dims.push_back(i);
  }
  return ScatterWith(l, x, Joined(l, columns, rank), source, scatter, combine);
}

Op ScatterSlices(Lowering& l, Op x, int64_t dim, Op index, Op source, Combine combine) {
  RequireIndex(l, index);
  if (l.dims(index).size() > 1)
    Refuse("the index must be a vector, not of shape %s", ListText(l.dims(index)));
  index = l.Reshape(index, {Count(l.dims(index))});
  if (l.dims(x).empty()) {
    x = l.Reshape(x, {1});
    source = l.Reshape(source, {Count(l.dims(source))});
    return l.Reshape(ScatterSlices(l, x, 0, index, source, combine), {});
  }
  Dims expected = l.dims(x);
  expected[dim] = l.dims(index)[0];
  if (l.dims(source) != expected) {
    Refuse("the source's shape %s is not %s, what %d indices name in dimension %d of %s",
           ListText(l.dims(source)), ListText(expected), expected[dim], dim, ListText(l.dims(x)));
  }
  hlo::ScatterAttributes scatter;
  for (int64_t i = 0; i < static_cast<int64_t>(expected.size()); ++i) {
    if (i != dim) scatter.update_window_dims.push_back(i);
  }
  scatter.inserted_window_dims = {dim};
  scatter.scatter_dims_to_operand_dims = {dim};
  scatter.index_vector_dim = 1;
  return ScatterWith(l, x, index, source, scatter, combine);
}

}  // namespace hlod::lazy
