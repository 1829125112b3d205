// Rearrangement: repeat, roll, rotate, triangles, diagonals.
#include "hlod/ops/arrangement.h"

#include <algorithm>
#include <cstdlib>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/shape/dynamic.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/ops/shape/whole_numbers.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/cumulative.h"
#include "hlod/ops/indexing.h"
#include "hlod/ops/shape.h"
#include "hlod/ops/sorting.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;
using lazy::TensorOf;
using lazy::WrapDim;

namespace {

Op RepeatOps(Lowering& l, Op x, const Dims& repeats) {
  Dims from = l.dims(x);
  if (repeats.size() < from.size()) {
    Refuse("repeats %s have fewer entries than the shape %s", ListText(repeats), ListText(from));
  }
  from.insert(from.begin(), repeats.size() - from.size(), 1);
  Dims split, to, mapping, kept;
  for (size_t i = 0; i < from.size(); ++i) {
    if (repeats[i] < 0) Refuse("repeats %s contain a negative one", ListText(repeats));
    split.push_back(repeats[i]);
    split.push_back(from[i]);
    mapping.push_back(static_cast<int64_t>(2 * i + 1));
    to.push_back(lazy::SizeTimes(from[i], repeats[i]));
  }
  return l.Reshape(l.b.Broadcast(l.Reshape(x, from), split, mapping), to);
}

// Returns x with 0 where the element is not on the kept side of the diagonal.
Op Triangle(Lowering& l, Op x, int64_t diagonal, hlo::ComparisonDirection kept) {
  const Dims dims = l.dims(x);
  if (dims.size() < 2) Refuse("a triangle needs matrices; the shape is %s", ListText(dims));
  const Dims plane(dims.end() - 2, dims.end());
  // Diagonals beyond the matrix keep what the nearest of them does; sums with them could overflow.
  const int64_t nearest = std::clamp(diagonal, -plane[0], plane[1]);
  const Op row = lazy::IndexIota(l, plane, 0) + l.Setting(hlo::kS64, nearest, "diagonal");
  Op mask = l.b.Compare(lazy::IndexIota(l, plane, 1), row, kept);
  mask = l.BroadcastTo(mask, dims);
  return l.b.Select(mask, x, l.Full(l.type(x), dims, 0));
}

// Returns x with its elements moved `shift` places along a dimension, those beyond the end to the beginning.
// A shift that varies from trace to trace is a number of the program: the start of a slice of x after x.
Op RolledOps(Lowering& l, Op x, int64_t dim, int64_t shift) {
  const Dims dims = l.dims(x);
  const int64_t size = dims.empty() ? 1 : dims[dim];
  const bool varies =
      size > 1 && l.graph.kind != lazy::Trace::Kind::kHost &&
      lazy::TraceTables::Get().ShiftVaries(l.graph.origin_now().caller, l.graph.generation(), shift);
  if (varies) {
    const Op twice[] = {x, x};
    std::vector<Op> starts(dims.size(), l.Number(hlo::kS64, 0));
    starts[static_cast<size_t>(dim)] = l.Varying(hlo::kS64, size - shift);
    return l.b.DynamicSlice(lazy::Joined(l, twice, dim), starts, dims);
  }
  if (shift == 0) return x;
  const Op parts[] = {lazy::SliceDim(l, x, dim, size - shift, size),
                      lazy::SliceDim(l, x, dim, 0, size - shift)};
  return lazy::Joined(l, parts, dim);
}

Op DiagEmbedOps(Lowering& l, Op x, int64_t offset, int64_t dim1, int64_t dim2) {
  if (l.dims(x).empty()) Refuse("a diagonal needs at least one dimension");
  const int64_t rank = lazy::RankOf(l, x) + 1, a = WrapDim(dim1, rank), b = WrapDim(dim2, rank);
  if (a == b) Refuse("the diagonal's dimensions %d and %d are the same", dim1, dim2);
  // Each element is padded to its column and broadcast over the rows; the mask keeps it in its own row.
  const int64_t length = l.dims(x).back();
  if (offset > INT64_MAX - length || offset < length - INT64_MAX)
    Refuse("the matrix of a diagonal of %d elements at offset %d is too large", length, offset);
  const int64_t size = length + std::abs(offset), low = std::max<int64_t>(offset, 0);
  x = lazy::PadDim(l, x, l.Number(l.type(x), 0), rank - 2, {low, std::abs(offset) - low, 0});
  Dims dims = l.dims(x), mapping;
  dims.insert(dims.end() - 1, size);
  for (int64_t i = 0; i < rank; ++i) {
    if (i != rank - 2) mapping.push_back(i);
  }
  x = l.b.Broadcast(x, dims, mapping);
  const Dims plane = {size, size};
  const Op row = lazy::IndexIota(l, plane, 0) + l.Number(hlo::kS64, offset);
  const Op mask = l.b.Compare(lazy::IndexIota(l, plane, 1), row, hlo::ComparisonDirection::kEq);
  x = l.b.Select(l.BroadcastTo(mask, dims), x, l.Full(l.type(x), dims, 0));
  Dims order;
  for (int64_t i = 0, next = 0; i < rank; ++i)
    order.push_back(i == a ? rank - 2 : i == b ? rank - 1 : next++);
  return lazy::Permuted(l, x, order);
}

// Returns a copy of x with the part that `view` selects replaced by `source`.
template <typename F>
Tensor WithPart(const lazy::Operation& operation, const Operand& x, const Operand& source, F view) {
  Tensor result = TensorOf(operation, x).Clone(x.caller());
  Tensor part = view(result);
  lazy::Explain(operation, std::vector<Operand>{x, source}, x.caller(), [&] {
    const Tensor& from = TensorOf(operation, source);
    if (from.dims() != part.dims()) {
      Refuse("the source's shape %s is not the part's shape %s", ListText(from.dims()),
             ListText(part.dims()));
    }
  });
  part.Copy_(source);
  return result;
}

}  // namespace

Tensor Repeat(const Operand& x, DimList repeats) {
  return lazy::Call(lazy::ops::Repeat, {x}, [&](Lowering& l, Operands o) {
    return RepeatOps(l, o[0], Dims(repeats.begin(), repeats.end()));
  });
}

Tensor Tile(const Operand& x, DimList repeats) {
  return lazy::Call(lazy::ops::Tile, {x}, [&](Lowering& l, Operands o) {
    Dims all(repeats.begin(), repeats.end());
    const size_t rank = l.dims(o[0]).size();
    if (all.size() < rank) all.insert(all.begin(), rank - all.size(), 1);
    return RepeatOps(l, o[0], all);
  });
}

Tensor RepeatInterleave(const Operand& x, int64_t repeats, std::optional<int64_t> dim) {
  const CallerScope scope(x.caller());
  return lazy::Call(lazy::ops::RepeatInterleave, {x}, [&](Lowering& l, Operands o) {
    if (repeats < 0) Refuse("the number of repeats (%d) is negative", repeats);
    const Op in =
        !dim.has_value() || l.dims(o[0]).empty() ? l.Reshape(o[0], {lazy::Count(l.dims(o[0]))}) : o[0];
    const int64_t at = WrapDim(dim.value_or(0), lazy::RankOf(l, in));
    Dims dims = l.dims(in), mapping;
    for (int64_t i = 0; i < lazy::RankOf(l, in); ++i) mapping.push_back(i <= at ? i : i + 1);
    Dims split = dims;
    split.insert(split.begin() + at + 1, repeats);
    dims[at] = lazy::SizeTimes(dims[at], repeats);
    return l.Reshape(l.b.Broadcast(in, split, mapping), dims);
  });
}

Tensor RepeatInterleave(const Operand& x, const Tensor& repeats, std::optional<int64_t> dim,
                        std::optional<int64_t> output_size) {
  const CallerScope scope(x.caller());
  const Caller& caller = x.caller();
  const Tensor& tensor = TensorOf(lazy::ops::RepeatInterleave, x);
  const Tensor in = dim.has_value() && tensor.rank() > 0 ? tensor : tensor.Reshape({-1}, caller);
  int64_t at = 0;
  lazy::Explain(lazy::ops::RepeatInterleave, {&x, 1}, caller, [&] {
    at = WrapDim(dim.value_or(0), in.rank());
    if (!repeats.defined() || repeats.rank() > 1 || !hlo::IsInteger(repeats.dtype())) {
      Refuse("repeats are a vector of integers");
    }
    if (repeats.numel() != 1 && repeats.numel() != in.dims()[at]) {
      Refuse("%d repeats are not one for each of %d slices", repeats.numel(), in.dims()[at]);
    }
  });
  const Tensor each = repeats.Reshape({-1}, caller).Expand({in.dims()[at]}, caller);
  const Tensor ends = Cumsum(Operand(each, caller), 0);
  const int64_t total = output_size.has_value() ? *output_size
                        : in.dims()[at] == 0    ? 0
                                                : lazy::ReadSizes(lazy::ops::RepeatInterleave,
                                                                  ends.Slice(0, -1, {}, 1, caller), caller)[0];
  // An element of the result comes from the first slice that ends after it.
  const Tensor numbers = Arange(0, total, 1, {.type = kS64, .device = in.device()}, caller);
  const Tensor index = Searchsorted(Operand(ends, caller), Operand(numbers, caller), true);
  return IndexSelect(Operand(in, caller), at, Operand(index, caller));
}

Tensor Roll(const Operand& x, DimList shifts, DimList dims) {
  return lazy::Call(lazy::ops::Roll, {x}, [&](Lowering& l, Operands o) {
    const Dims shape = l.dims(o[0]);
    if (dims.empty() ? shifts.size() != 1 : shifts.size() != dims.size()) {
      Refuse("shifts %s and dimensions %s differ in number", ListText(shifts), ListText(dims));
    }
    Op in = dims.empty() ? l.Reshape(o[0], {lazy::Count(shape)}) : o[0];
    for (size_t i = 0; i < shifts.size(); ++i) {
      const int64_t at = dims.empty() ? 0 : WrapDim(dims[i], lazy::RankOf(l, in));
      const int64_t size = l.dims(in).empty() ? 1 : l.dims(in)[at];
      const int64_t shift = size == 0 ? 0 : (shifts[i] % size + size) % size;
      in = RolledOps(l, in, at, shift);
    }
    return l.Reshape(in, shape);
  });
}

Tensor Flip(const Operand& x, DimList dims) {
  return lazy::Call(lazy::ops::Flip, {x}, [&](Lowering& l, Operands o) {
    if (dims.empty() || l.dims(o[0]).empty()) return o[0];
    return lazy::Reversed(l, o[0], lazy::WrapDims(dims, lazy::RankOf(l, o[0])));
  });
}
Tensor Fliplr(const Operand& x) {
  const CallerScope scope(x.caller());
  lazy::Explain(lazy::ops::Fliplr, {&x, 1}, x.caller(), [&] {
    if (TensorOf(lazy::ops::Fliplr, x).rank() < 2) Refuse("at least two dimensions are needed");
  });
  return Flip(x, {1});
}
Tensor Flipud(const Operand& x) {
  const CallerScope scope(x.caller());
  lazy::Explain(lazy::ops::Flipud, {&x, 1}, x.caller(), [&] {
    if (TensorOf(lazy::ops::Flipud, x).rank() < 1) Refuse("at least one dimension is needed");
  });
  return Flip(x, {0});
}

Tensor Rot90(const Operand& x, int64_t k, DimList dims) {
  const CallerScope scope(x.caller());
  lazy::Explain(lazy::ops::Rot90, {&x, 1}, x.caller(), [&] {
    const int64_t rank = TensorOf(lazy::ops::Rot90, x).rank();
    if (dims.size() != 2 || rank < 2 || WrapDim(dims[0], rank) == WrapDim(dims[1], rank)) {
      Refuse("dimensions %s are not two different ones of %d", ListText(dims), rank);
    }
  });
  const auto flip = [&](const Tensor& t, int64_t dim) { return Flip(Operand(t, x.caller()), {dim}); };
  switch ((k % 4 + 4) % 4) {
    case 1: return flip(*x.tensor(), dims[1]).Transpose(dims[0], dims[1], x.caller());
    case 2: return Flip(x, dims);
    case 3: return flip(*x.tensor(), dims[0]).Transpose(dims[0], dims[1], x.caller());
    default: return x.tensor()->Clone(x.caller());
  }
}

Tensor Tril(const Operand& x, int64_t diagonal) {
  return lazy::Call(lazy::ops::Tril, {x}, [&](Lowering& l, Operands o) {
    return Triangle(l, o[0], diagonal, hlo::ComparisonDirection::kLe);
  });
}
Tensor Triu(const Operand& x, int64_t diagonal) {
  return lazy::Call(lazy::ops::Triu, {x}, [&](Lowering& l, Operands o) {
    return Triangle(l, o[0], diagonal, hlo::ComparisonDirection::kGe);
  });
}

Tensor DiagEmbed(const Operand& x, int64_t offset, int64_t dim1, int64_t dim2) {
  return lazy::Call(lazy::ops::DiagEmbed, {x},
                    [&](Lowering& l, Operands o) { return DiagEmbedOps(l, o[0], offset, dim1, dim2); });
}
Tensor Diag(const Operand& x, int64_t diagonal) {
  const CallerScope scope(x.caller());
  const Tensor& tensor = TensorOf(lazy::ops::Diag, x);
  lazy::Explain(lazy::ops::Diag, {&x, 1}, x.caller(), [&] {
    if (tensor.rank() != 1 && tensor.rank() != 2) Refuse("a vector or a matrix is needed");
  });
  if (tensor.rank() == 1) return DiagEmbed(x, diagonal);
  return tensor.Diagonal(diagonal, 0, 1, x.caller()).Clone(x.caller());
}
Tensor Diagflat(const Operand& x, int64_t offset) {
  const CallerScope scope(x.caller());
  return DiagEmbed(Operand(TensorOf(lazy::ops::Diagflat, x).Reshape({-1}, x.caller()), x.caller()), offset);
}

Tensor DiagonalScatter(const Operand& x, const Operand& source, int64_t offset, int64_t dim1, int64_t dim2) {
  return WithPart(lazy::ops::DiagonalScatter, x, source,
                  [&](const Tensor& t) { return t.Diagonal(offset, dim1, dim2, x.caller()); });
}
Tensor SelectScatter(const Operand& x, const Operand& source, int64_t dim, int64_t index) {
  return WithPart(lazy::ops::SelectScatter, x, source,
                  [&](const Tensor& t) { return t.Select(dim, index, x.caller()); });
}
Tensor SliceScatter(const Operand& x, const Operand& source, int64_t dim, std::optional<int64_t> start,
                    std::optional<int64_t> end, int64_t step) {
  return WithPart(lazy::ops::SliceScatter, x, source,
                  [&](const Tensor& t) { return t.Slice(dim, start, end, step, x.caller()); });
}
Tensor AsStridedScatter(const Operand& x, const Operand& source, DimList dims, DimList strides,
                        std::optional<int64_t> offset) {
  return WithPart(lazy::ops::AsStridedScatter, x, source,
                  [&](const Tensor& t) { return t.AsStrided(dims, strides, offset, x.caller()); });
}

}  // namespace hlod
