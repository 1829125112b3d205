// Masks: filling and scattering by a mask, and operations whose result shape depends on a mask.
#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/indexing/sorting.h"
#include "client/tensor/ops/shape/dynamic.h"
#include "client/tensor/ops/shape/empty.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/ops/shape/whole_numbers.h"
#include "hlod/ops/indexing.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;
using lazy::TensorOf;

namespace {

void RequireMask(Lowering& l, Op mask) {
  if (l.type(mask) != hlo::kPred) Refuse("a mask is of type pred, not %s", hlo::Name(l.type(mask)));
}

Op Filled(Lowering& l, Operands o) {
  RequireMask(l, o[1]);
  if (!l.dims(o[2]).empty()) Refuse("the value must be a number, not of shape %s", ListText(l.dims(o[2])));
  const Dims dims = lazy::BroadcastDims(l.dims(o[0]), l.dims(o[1]));
  const Op value = l.BroadcastTo(l.Convert(o[2], l.type(o[0])), dims);
  return l.b.Select(l.BroadcastTo(o[1], dims), value, l.BroadcastTo(o[0], dims));
}

// Returns the positions of a flat mask's elements: first those that are true, then the others, each in order.
Op Positions(Lowering& l, Op mask) {
  const Op key = l.Convert(l.b.Unary(hlo::kNot, mask), hlo::kS32);
  const Op operands[] = {key, lazy::IndexIota(l, l.dims(mask), 0)};
  return lazy::SortOps(l, operands, 0, false)[1];
}

// Returns the coordinates (row, column, ...) of flat positions in a tensor of `dims`: [positions, rank].
Op Coordinates(Lowering& l, Op flat, const Dims& dims) {
  const int64_t count = l.dims(flat)[0];
  const auto rank = static_cast<int64_t>(dims.size());
  std::vector<Op> columns;
  for (int64_t i = 0; i < rank; ++i) {
    // With a limit of 0 there are only padding positions.
    const int64_t stride = std::max<int64_t>(lazy::Count(absl::MakeConstSpan(dims).subspan(i + 1)), 1);
    Op column = flat / l.Number(hlo::kS64, stride);
    if (i > 0)
      column = l.b.Binary(hlo::kRemainder, column, l.Number(hlo::kS64, std::max<int64_t>(dims[i], 1)));
    columns.push_back(l.Reshape(column, {count, 1}));
  }
  return rank == 0 ? l.Full(hlo::kS64, {count, 0}, 0) : lazy::Joined(l, columns, 1);
}

// Returns the number of elements that are not zero. Closes the trace and waits for the value.
int64_t ReadCount(const lazy::Operation& operation, const Operand& x) {
  const Tensor count = lazy::Call(operation, {x}, [](Lowering& l, Operands o) {
    return l.Reduce(hlo::kAdd, l.Convert(l.Convert(lazy::Flat(l, o[0]), hlo::kPred), hlo::kS64), {0});
  });
  return lazy::ReadSizes(operation, count, x.caller())[0];
}

}  // namespace

Tensor MaskedFill(const Operand& x, const Operand& mask, const Operand& value) {
  lazy::RequireFits(lazy::ops::MaskedFill, TensorOf(lazy::ops::MaskedFill, x).dtype(), value);
  return lazy::Call(lazy::ops::MaskedFill, {x, mask, value}, Filled);
}
Tensor& MaskedFill_(Tensor& x, const Operand& mask, const Operand& value) {
  const Operand operands[] = {Operand(x, mask.caller()), mask, value};
  lazy::RequireFits(lazy::ops::MaskedFill, TensorOf(lazy::ops::MaskedFill, operands[0]).dtype(), value);
  return lazy::CallInPlace(lazy::ops::MaskedFill, x, operands, Filled);
}

Tensor& FillDiagonal_(Tensor& x, Scalar value, Caller caller) {
  const Operand operand(x, caller);
  Dims strides;
  int64_t length = 0;
  lazy::Explain(lazy::ops::FillDiagonal_, {&operand, 1}, caller, [&] {
    const Tensor& target = TensorOf(lazy::ops::FillDiagonal_, operand);
    const Dims& dims = target.dims();
    if (dims.size() < 2) Refuse("at least two dimensions are needed");
    for (const int64_t size : dims) {
      if (dims.size() > 2 && size != dims[0]) Refuse("the sizes of shape %s must be equal", ListText(dims));
    }
    length = *std::min_element(dims.begin(), dims.end());
    strides = {0};
    for (const int64_t stride : target.strides()) strides[0] += stride;
  });
  Tensor diagonal = x.AsStrided({length}, strides, {}, caller);
  diagonal.Fill_(Operand(value, caller));
  return x;
}

Tensor MaskedScatter(const Operand& x, const Operand& mask, const Operand& source) {
  return lazy::Call(lazy::ops::MaskedScatter, {x, mask, source}, [](Lowering& l, Operands o) {
    RequireMask(l, o[1]);
    if (l.type(o[0]) != l.type(o[2])) {
      Refuse("the source's type %s is not the tensor's %s", hlo::Name(l.type(o[2])), hlo::Name(l.type(o[0])));
    }
    const Dims dims = lazy::BroadcastDims(l.dims(o[0]), l.dims(o[1]));
    const Op in = l.BroadcastTo(o[0], dims), where = l.BroadcastTo(o[1], dims);
    if (lazy::Count(dims) == 0) return in;
    if (lazy::Count(l.dims(o[2])) == 0) return in;
    // The k-th true element gets the k-th element of the source.
    const Op order = Positions(l, lazy::Flat(l, where));
    const Op counter = lazy::IndexIota(l, l.dims(order), 0);
    const Op rank = lazy::ScatterAlong(l, counter, 0, order, counter, lazy::Combine::kSet);
    const Op taken = lazy::SelectSlices(l, lazy::Flat(l, o[2]), 0, rank);
    return l.b.Select(where, l.Reshape(taken, dims), in);
  });
}

Tensor Nonzero(const Operand& x) {
  TensorOf(lazy::ops::Nonzero, x);
  const int64_t count = ReadCount(lazy::ops::Nonzero, x);
  return lazy::Call(lazy::ops::Nonzero, {x}, [&](Lowering& l, Operands o) {
    if (count == 0) return l.Full(hlo::kS64, {0, lazy::RankOf(l, o[0])}, 0);
    const Op flat = Positions(l, l.Convert(lazy::Flat(l, o[0]), hlo::kPred));
    return Coordinates(l, lazy::SliceDim(l, flat, 0, 0, count), l.dims(o[0]));
  });
}

BoundedPositions NonzeroBounded(const Operand& x, int64_t limit) {
  const std::vector<Tensor> results =
      lazy::CallSeveral(lazy::ops::Nonzero, {x}, [&](Lowering& l, Operands o) -> std::vector<Op> {
        if (limit < 0) Refuse("the limit (%d) is negative", limit);
        const Op mask = l.Convert(lazy::Flat(l, o[0]), hlo::kPred);
        const Op count = l.Reduce(hlo::kAdd, l.Convert(mask, hlo::kS64), {0});
        const int64_t size = l.dims(mask)[0], rank = lazy::RankOf(l, o[0]);
        const Op first = lazy::SliceDim(l, Positions(l, mask), 0, 0, std::min(limit, size));
        const Op padded =
            lazy::PadDim(l, first, l.Number(hlo::kS64, 0), 0, {0, std::max<int64_t>(limit - size, 0), 0});
        const Dims dims = {limit, rank};
        const Op is_one = l.b.Compare(lazy::IndexIota(l, dims, 0), l.b.Broadcast(count, dims, {}),
                                      hlo::ComparisonDirection::kLt);
        return {l.b.Select(is_one, Coordinates(l, padded, l.dims(o[0])), l.Full(hlo::kS64, dims, -1)), count};
      });
  return {results[0], results[1]};
}

std::vector<Tensor> Where(const Operand& condition) {
  const Tensor& tensor = TensorOf(lazy::ops::Where, condition);
  if (tensor.rank() == 0) {  // A scalar counts as a vector of one element.
    const Tensor one = tensor.Reshape({1}, condition.caller());
    return Where(Operand(one, condition.caller()));
  }
  const Tensor positions = Nonzero(condition);
  std::vector<Tensor> columns;
  for (int64_t i = 0; i < positions.dims()[1]; ++i)
    columns.push_back(positions.Select(1, i, condition.caller()));
  return columns;
}

Tensor MaskedSelect(const Operand& x, const Operand& mask) {
  Dims dims;
  lazy::Explain(lazy::ops::MaskedSelect, std::vector<Operand>{x, mask}, x.caller(), [&] {
    const Tensor& where = TensorOf(lazy::ops::MaskedSelect, mask);
    if (where.dtype() != kPred) Refuse("a mask is of type pred, not %s", hlo::Name(where.dtype()));
    dims = lazy::BroadcastDims(TensorOf(lazy::ops::MaskedSelect, x).dims(), where.dims());
  });
  const Tensor full = mask.tensor()->Expand(dims, x.caller());
  const int64_t count = ReadCount(lazy::ops::MaskedSelect, Operand(full, x.caller()));
  return lazy::Call(lazy::ops::MaskedSelect, {x, Operand(full, x.caller())}, [&](Lowering& l, Operands o) {
    if (count == 0) return lazy::WithoutElements(l, o[0], {0});
    const Op at = lazy::SliceDim(l, Positions(l, lazy::Flat(l, o[1])), 0, 0, count);
    return lazy::SelectSlices(l, lazy::Flat(l, l.BroadcastTo(o[0], dims)), 0, at);
  });
}

}  // namespace hlod
