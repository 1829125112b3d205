// Indexing with several tensors at once: one gather to read, one scatter to write.
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/shape/empty.h"
#include "client/tensor/ops/shape/known.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/indexing.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;
using lazy::TensorOf;

namespace {

// Returns the indices with each mask replaced by the positions of its true elements, one index per dimension
// of the mask. Undefined tensors, which take whole dimensions, stay.
std::vector<Tensor> WithoutMasks(const lazy::Operation& operation, const Operand& x,
                                 const std::vector<Tensor>& indices) {
  std::vector<Tensor> plain;
  const Dims& dims = TensorOf(operation, x).dims();
  for (const Tensor& index : indices) {
    if (!index.defined() || index.dtype() != kPred) {
      plain.push_back(index);
      continue;
    }
    for (int64_t i = 0; i < index.rank(); ++i) {
      const size_t at = plain.size() + static_cast<size_t>(i);
      if (at >= dims.size() || dims[at] != index.dims()[i]) {
        lazy::Explain(operation, {&x, 1}, x.caller(), [&] {
          Refuse("a mask of shape %s does not fit dimensions %d and on of shape %s", ListText(index.dims()),
                 plain.size(), ListText(dims));
        });
      }
    }
    const Tensor positions = Nonzero(Operand(index, x.caller()));
    for (int64_t i = 0; i < index.rank(); ++i) plain.push_back(positions.Select(1, i, x.caller()));
  }
  if (plain.size() > dims.size()) {
    lazy::Explain(operation, {&x, 1}, x.caller(),
                  [&] { Refuse("%d indices are too many for %d dimensions", plain.size(), dims.size()); });
  }
  return plain;
}

// The indexed dimensions of x, and the indices as one array of coordinates.
struct Place {
  Dims indexed;       // The dimensions that are indexed by tensors.
  Dims whole;         // The other dimensions.
  Dims batch;         // The shape that the indices broadcast to.
  int64_t first = 0;  // The dimension of the result at which the batch begins.
  Op coordinates;     // [batch..., indexed].
};

Place PlaceOf(Lowering& l, Op x, Operands indices, const std::vector<Tensor>& plain) {
  Place place;
  const Dims dims = l.dims(x);
  for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i) {
    const bool named = i < static_cast<int64_t>(plain.size()) && plain[i].defined();
    (named ? place.indexed : place.whole).push_back(i);
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t dim = place.indexed[i];
    lazy::CheckIndices(l, indices[i], dim, dims[dim], lazy::FromEnd::kYes);
    place.batch = lazy::BroadcastDims(place.batch, l.dims(indices[i]));
  }
  // Adjacent indexed dimensions are replaced where they are; otherwise the batch comes first.
  const bool adjacent =
      place.indexed.back() - place.indexed.front() + 1 == static_cast<int64_t>(place.indexed.size());
  place.first = adjacent ? place.indexed.front() : 0;
  Dims column = place.batch;
  column.push_back(1);
  std::vector<Op> columns;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Op index = lazy::WrapNegative(l, l.Convert(indices[i], hlo::kS64), dims[place.indexed[i]]);
    columns.push_back(l.Reshape(l.BroadcastTo(index, place.batch), column));
  }
  place.coordinates = lazy::Joined(l, columns, static_cast<int64_t>(place.batch.size()));
  return place;
}

// Returns the dimensions of the result that are x's whole dimensions, the gather's windows.
Dims WindowDims(const Place& place) {
  Dims windows;
  const auto added = static_cast<int64_t>(place.batch.size());
  for (int64_t i = 0; i < static_cast<int64_t>(place.whole.size()); ++i) {
    windows.push_back(i < place.first ? i : i + added);
  }
  return windows;
}

Dims ResultDims(const Place& place, const Dims& dims) {
  Dims result;
  for (const int64_t dim : place.whole) result.push_back(dims[dim]);
  result.insert(result.begin() + place.first, place.batch.begin(), place.batch.end());
  return result;
}

std::vector<Operand> OperandList(std::initializer_list<Operand> first, const std::vector<Tensor>& plain,
                                 const Caller& caller) {
  std::vector<Operand> operands(first);
  for (const Tensor& index : plain) {
    if (index.defined()) operands.emplace_back(index, caller);
  }
  return operands;
}

Op Put(Lowering& l, Operands o, const std::vector<Tensor>& plain, bool accumulate) {
  const Dims dims = l.dims(o[0]);
  if (l.type(o[0]) != l.type(o[1])) {
    Refuse("the values' type %s is not the tensor's %s", hlo::Name(l.type(o[1])), hlo::Name(l.type(o[0])));
  }
  if (o.size() == 2) {  // Without an index, the result is all of x.
    const Op values = l.BroadcastTo(o[1], dims);
    return accumulate ? o[0] + values : values;
  }
  const Place place = PlaceOf(l, o[0], o.subspan(2), plain);
  hlo::ScatterAttributes scatter;
  scatter.update_window_dims = WindowDims(place);
  scatter.inserted_window_dims = place.indexed;
  scatter.scatter_dims_to_operand_dims = place.indexed;
  scatter.index_vector_dim = static_cast<int64_t>(place.batch.size());
  const Op values = l.BroadcastTo(o[1], ResultDims(place, dims));
  return lazy::ScatterWith(l, o[0], place.coordinates, values, scatter,
                           accumulate ? lazy::Combine::kAdd : lazy::Combine::kSet);
}

}  // namespace

Tensor Index(const Operand& x, const std::vector<Tensor>& indices) {
  const std::vector<Tensor> plain = WithoutMasks(lazy::ops::Index, x, indices);
  return lazy::Call(lazy::ops::Index, OperandList({x}, plain, x.caller()), [&](Lowering& l, Operands o) {
    if (o.size() == 1) return o[0];
    const Dims dims = l.dims(o[0]);
    const Place place = PlaceOf(l, o[0], o.subspan(1), plain);
    const Dims to = ResultDims(place, dims);
    if (lazy::Count(to) == 0) return lazy::WithoutElements(l, o[0], to);
    hlo::GatherAttributes gather;
    gather.offset_dims = WindowDims(place);
    gather.collapsed_slice_dims = place.indexed;
    gather.start_index_map = place.indexed;
    gather.index_vector_dim = static_cast<int64_t>(place.batch.size());
    gather.slice_sizes = dims;
    for (const int64_t dim : place.indexed) {
      if (dims[dim] == 0) Refuse("dimension %d has no elements to take", dim);
      gather.slice_sizes[dim] = 1;
    }
    return l.b.Add(hlo::kGather, {o[0], place.coordinates}, gather);
  });
}

Tensor IndexPut(const Operand& x, const std::vector<Tensor>& indices, const Operand& values,
                bool accumulate) {
  const std::vector<Tensor> plain = WithoutMasks(lazy::ops::IndexPut, x, indices);
  return lazy::Call(lazy::ops::IndexPut, OperandList({x, values}, plain, x.caller()),
                    [&](Lowering& l, Operands o) { return Put(l, o, plain, accumulate); });
}

Tensor& IndexPut_(Tensor& x, const std::vector<Tensor>& indices, const Operand& values, bool accumulate) {
  const Operand target(x, values.caller());
  // Storing a single number where a mask is true is a select, which needs no positions.
  const bool fill = indices.size() == 1 && indices[0].defined() && indices[0].dtype() == kPred &&
                    !accumulate && indices[0].dims() == x.dims() &&
                    (values.tensor() == nullptr || values.tensor()->rank() == 0);
  if (fill) return MaskedFill_(x, Operand(indices[0], values.caller()), values);
  const std::vector<Tensor> plain = WithoutMasks(lazy::ops::IndexPut, target, indices);
  return lazy::CallInPlace(lazy::ops::IndexPut, x, OperandList({target, values}, plain, values.caller()),
                           [&](Lowering& l, Operands o) { return Put(l, o, plain, accumulate); });
}

}  // namespace hlod
