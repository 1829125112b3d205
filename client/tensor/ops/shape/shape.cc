// Views, splits and other changes of shape, as free functions.
#include "hlod/ops/shape.h"

#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/function/function_trace.h"
#include "common/base/arithmetic.h"
#include "common/base/saturated.h"
#include "hlod/ops/dynamic_slice.h"

namespace hlod {

using lazy::ListText;
using lazy::Refuse;
using lazy::TensorOf;
using lazy::WrapDim;

namespace {

// Returns the dimension that `dim` names in x; an error names the operation.
int64_t DimOf(const lazy::Operation& operation, const Operand& x, int64_t dim) {
  int64_t at = 0;
  lazy::Explain(operation, {&x, 1}, x.caller(), [&] { at = WrapDim(dim, TensorOf(operation, x).rank()); });
  return at;
}

void RequireDimensions(const lazy::Operation& operation, const Operand& x) {
  lazy::Explain(operation, {&x, 1}, x.caller(), [&] {
    if (TensorOf(operation, x).rank() == 0) Refuse("a scalar has no dimension to divide");
  });
}

std::vector<Tensor> Pieces(const Operand& x, absl::Span<const int64_t> sizes, int64_t dim) {
  std::vector<Tensor> pieces;
  int64_t start = 0;
  for (const int64_t size : sizes) {
    pieces.push_back(x.tensor()->Narrow(dim, start, size, x.caller()));
    start += size;
  }
  return pieces;
}

}  // namespace

Tensor Reshape(const Operand& x, DimList dims) {
  return TensorOf(lazy::ops::Reshape, x).Reshape(dims, x.caller());
}
Tensor Permute(const Operand& x, DimList permutation) {
  return TensorOf(lazy::ops::Permute, x).Permute(permutation, x.caller());
}
Tensor Transpose(const Operand& x, int64_t dim0, int64_t dim1) {
  return TensorOf(lazy::ops::Transpose, x).Transpose(dim0, dim1, x.caller());
}
Tensor Swapaxes(const Operand& x, int64_t dim0, int64_t dim1) { return Transpose(x, dim0, dim1); }

Tensor Movedim(const Operand& x, DimList source, DimList destination) {
  Dims order;
  lazy::Explain(lazy::ops::Movedim, {&x, 1}, x.caller(), [&] {
    const int64_t rank = TensorOf(lazy::ops::Movedim, x).rank();
    if (source.size() != destination.size()) {
      Refuse("sources %s and destinations %s differ in number", ListText(source), ListText(destination));
    }
    if (source.empty() || rank == 0) {
      for (int64_t i = 0; i < rank; ++i) order.push_back(i);
      return;
    }
    const Dims from = lazy::WrapDims(source, rank), to = lazy::WrapDims(destination, rank);
    order.assign(rank, -1);
    for (size_t i = 0; i < from.size(); ++i) order[to[i]] = from[i];
    int64_t next = 0;
    for (int64_t& slot : order) {
      if (slot >= 0) continue;
      while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
      slot = next++;
    }
  });
  return x.tensor()->Permute(order, x.caller());
}

Tensor Narrow(const Operand& x, int64_t dim, int64_t start, int64_t length) {
  return TensorOf(lazy::ops::Narrow, x).Narrow(dim, start, length, x.caller());
}
Tensor Narrow(const Operand& x, int64_t dim, const Tensor& start, int64_t length) {
  lazy::Explain(lazy::ops::Narrow, {&x, 1}, x.caller(), [&] {
    if (!start.defined() || start.rank() != 0 || !hlo::IsInteger(start.dtype())) {
      Refuse("the start must be an integer or a tensor of one, without dimensions");
    }
  });
  const bool traced = lazy::FunctionTrace::Innermost() != nullptr &&
                      (!start.device().is_host() || lazy::FunctionTrace::IsInside(*start.impl()));
  if (!traced) return Narrow(x, dim, start.Item<int64_t>(x.caller()), length);
  const int64_t at = DimOf(lazy::ops::Narrow, x, dim);
  Dims sizes = x.tensor()->dims();
  std::vector<Operand> starts(sizes.size(), Operand(0, x.caller()));
  starts[at] = Operand(start, x.caller());
  sizes[at] = length;
  return DynamicSlice(x, starts, sizes);
}
Tensor NarrowCopy(const Operand& x, int64_t dim, int64_t start, int64_t length) {
  return Narrow(x, dim, start, length).Clone(x.caller());
}
Tensor Select(const Operand& x, int64_t dim, int64_t index) {
  return TensorOf(lazy::ops::Select, x).Select(dim, index, x.caller());
}
Tensor Squeeze(const Operand& x) { return TensorOf(lazy::ops::Squeeze, x).Squeeze({}, x.caller()); }
Tensor Squeeze(const Operand& x, DimList dims) {
  Tensor result = TensorOf(lazy::ops::Squeeze, x);
  Dims order;
  lazy::Explain(lazy::ops::Squeeze, {&x, 1}, x.caller(), [&] {
    if (!dims.empty()) order = lazy::WrapDims(dims, result.rank());
  });
  // Squeezes the last dimension first, so that the numbers of the earlier ones do not change.
  std::sort(order.begin(), order.end(), std::greater<>());
  for (const int64_t dim : order) result = result.Squeeze(dim, x.caller());
  return result;
}
Tensor Unsqueeze(const Operand& x, int64_t dim) {
  return TensorOf(lazy::ops::Unsqueeze, x).Unsqueeze(dim, x.caller());
}
Tensor Flatten(const Operand& x, int64_t start, int64_t end) {
  return TensorOf(lazy::ops::Flatten, x).Flatten(start, end, x.caller());
}
Tensor Ravel(const Operand& x) { return TensorOf(lazy::ops::Ravel, x).Reshape({-1}, x.caller()); }

Tensor Unflatten(const Operand& x, int64_t dim, DimList sizes) {
  const int64_t at = DimOf(lazy::ops::Unflatten, x, dim);
  Dims to = x.tensor()->dims();
  lazy::Explain(lazy::ops::Unflatten, {&x, 1}, x.caller(), [&] {
    if (to.empty() || sizes.empty()) Refuse("dimension %d cannot become %s", dim, ListText(sizes));
    int64_t known = 1;
    Dims parts(sizes.begin(), sizes.end());
    for (const int64_t size : parts) known *= size == -1 ? 1 : size;
    for (int64_t& size : parts) {
      if (size == -1 && known > 0) size = to[at] / known;
    }
    if (lazy::Count(parts) != to[at]) Refuse("sizes %s do not make up %d", ListText(sizes), to[at]);
    to.erase(to.begin() + at);
    to.insert(to.begin() + at, parts.begin(), parts.end());
  });
  return x.tensor()->View(to, x.caller());
}

Tensor Diagonal(const Operand& x, int64_t offset, int64_t dim0, int64_t dim1) {
  return TensorOf(lazy::ops::Diagonal, x).Diagonal(offset, dim0, dim1, x.caller());
}
Tensor AsStrided(const Operand& x, DimList dims, DimList strides, std::optional<int64_t> offset) {
  return TensorOf(lazy::ops::AsStrided, x).AsStrided(dims, strides, offset, x.caller());
}

Tensor BroadcastTo(const Operand& x, DimList dims) {
  return TensorOf(lazy::ops::BroadcastTo, x).Expand(dims, x.caller());
}
Tensor ExpandAs(const Operand& x, const Tensor& other) {
  return TensorOf(lazy::ops::Expand, x).Expand(other.dims(), x.caller());
}
Tensor ViewAs(const Operand& x, const Tensor& other) {
  return TensorOf(lazy::ops::View, x).View(other.dims(), x.caller());
}
Tensor ReshapeAs(const Operand& x, const Tensor& other) { return Reshape(x, other.dims()); }

Dims BroadcastShapes(const std::vector<Dims>& shapes, Caller caller) {
  Dims dims;
  lazy::Explain(lazy::ops::BroadcastTensors, {}, caller, [&] {
    for (const Dims& shape : shapes) {
      if (std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size < 0; })) {
        Refuse("shape %s has a negative size", ListText(shape));
      }
      dims = lazy::BroadcastDims(dims, shape);
    }
  });
  return dims;
}

std::vector<Tensor> BroadcastTensors(const std::vector<Tensor>& tensors, Caller caller) {
  Dims dims;
  const std::vector<Operand> operands = lazy::OperandsOf(tensors, caller);
  lazy::Explain(lazy::ops::BroadcastTensors, operands, caller, [&] {
    for (const Operand& x : operands) {
      dims = lazy::BroadcastDims(dims, TensorOf(lazy::ops::BroadcastTensors, x).dims());
    }
  });
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) result.push_back(tensor.Expand(dims, caller));
  return result;
}

Tensor Atleast1d(const Operand& x) {
  const Tensor& tensor = TensorOf(lazy::ops::Atleast1d, x);
  return tensor.rank() >= 1 ? tensor : tensor.Reshape({1}, x.caller());
}
Tensor Atleast2d(const Operand& x) {
  const Tensor one = Atleast1d(x);
  return one.rank() >= 2 ? one : one.Unsqueeze(0, x.caller());
}
Tensor Atleast3d(const Operand& x) {
  const Tensor two = Atleast2d(x);
  return two.rank() >= 3 ? two : two.Unsqueeze(-1, x.caller());
}

namespace {

// Refuses a number of parts of which most would be empty, and for which there may be no memory.
void RequireParts(int64_t parts, int64_t size) {
  constexpr int64_t kMost = 1 << 20;
  if (parts > kMost && parts > size) Refuse("%d parts of %d elements are more than %d", parts, size, kMost);
}

}  // namespace

std::vector<Tensor> SplitWithSizes(const Operand& x, DimList sizes, int64_t dim) {
  RequireDimensions(lazy::ops::SplitWithSizes, x);
  const int64_t at = DimOf(lazy::ops::SplitWithSizes, x, dim);
  lazy::Explain(lazy::ops::SplitWithSizes, {&x, 1}, x.caller(), [&] {
    int64_t sum = 0;
    for (const int64_t size : sizes) {
      if (size < 0) Refuse("sizes %s contain a negative one", ListText(sizes));
      AddSaturated(sum, size);
    }
    const int64_t size = x.tensor()->dims()[at];
    if (sum != size)
      Refuse("sizes %s do not add up to the size %d of dimension %d", ListText(sizes), size, dim);
  });
  return Pieces(x, sizes, at);
}

std::vector<Tensor> Split(const Operand& x, int64_t size, int64_t dim) {
  RequireDimensions(lazy::ops::Split, x);
  const int64_t at = DimOf(lazy::ops::Split, x, dim), total = x.tensor()->dims()[at];
  lazy::Explain(lazy::ops::Split, {&x, 1}, x.caller(), [&] {
    if (size < 0 || (size == 0 && total != 0)) Refuse("pieces of size %d do not divide %d", size, total);
  });
  Dims sizes;
  for (int64_t left = total; left > 0; left -= size) sizes.push_back(std::min(size, left));
  if (sizes.empty()) sizes.push_back(0);
  return Pieces(x, sizes, at);
}

std::vector<Tensor> Chunk(const Operand& x, int64_t chunks, int64_t dim) {
  RequireDimensions(lazy::ops::Chunk, x);
  const int64_t at = DimOf(lazy::ops::Chunk, x, dim), total = x.tensor()->dims()[at];
  lazy::Explain(lazy::ops::Chunk, {&x, 1}, x.caller(), [&] {
    if (chunks <= 0) Refuse("the number of chunks (%d) must be positive", chunks);
    if (total == 0) RequireParts(chunks, total);
  });
  if (total == 0) return Pieces(x, Dims(chunks, 0), at);
  return Split(x, CeilDiv(total, chunks), at);
}

std::vector<Tensor> TensorSplit(const Operand& x, int64_t sections, int64_t dim) {
  RequireDimensions(lazy::ops::TensorSplit, x);
  const int64_t at = DimOf(lazy::ops::TensorSplit, x, dim), total = x.tensor()->dims()[at];
  lazy::Explain(lazy::ops::TensorSplit, {&x, 1}, x.caller(), [&] {
    if (sections <= 0) Refuse("the number of sections (%d) must be positive", sections);
    RequireParts(sections, total);
  });
  Dims sizes;
  for (int64_t i = 0; i < sections; ++i) sizes.push_back(total / sections + (i < total % sections ? 1 : 0));
  return Pieces(x, sizes, at);
}

std::vector<Tensor> TensorSplit(const Operand& x, DimList indices, int64_t dim) {
  RequireDimensions(lazy::ops::TensorSplit, x);
  const int64_t at = DimOf(lazy::ops::TensorSplit, x, dim);
  std::vector<Tensor> pieces;
  std::optional<int64_t> start;
  for (const int64_t end : indices) {
    pieces.push_back(x.tensor()->Slice(at, start, end, 1, x.caller()));
    start = end;
  }
  pieces.push_back(x.tensor()->Slice(at, start, {}, 1, x.caller()));
  return pieces;
}

namespace {

// Returns the dimension that hsplit, vsplit and dsplit divide: 1, 0 and 2. Of a vector, hsplit divides its
// only dimension.
int64_t SplitDim(const lazy::Operation& operation, const Operand& x, int64_t dim) {
  const int64_t rank = TensorOf(operation, x).rank();
  const int64_t least = dim == 1 ? 1 : dim + (dim == 0 ? 2 : 1);
  lazy::Explain(operation, {&x, 1}, x.caller(), [&] {
    if (rank < least) Refuse("a tensor of rank %d or more is needed; this one has %d", least, rank);
  });
  return rank == 1 ? 0 : dim;
}
std::vector<Tensor> Sections(const lazy::Operation& operation, const Operand& x, int64_t sections,
                             int64_t dim) {
  const int64_t at = SplitDim(operation, x, dim), size = x.tensor()->dims()[at];
  lazy::Explain(operation, {&x, 1}, x.caller(), [&] {
    if (sections <= 0 || size % sections != 0) {
      Refuse("%d sections do not divide the size %d of dimension %d", sections, size, at);
    }
  });
  return TensorSplit(x, sections, at);
}

}  // namespace

std::vector<Tensor> Hsplit(const Operand& x, int64_t sections) {
  return Sections(lazy::ops::Hsplit, x, sections, 1);
}
std::vector<Tensor> Hsplit(const Operand& x, DimList indices) {
  return TensorSplit(x, indices, SplitDim(lazy::ops::Hsplit, x, 1));
}
std::vector<Tensor> Vsplit(const Operand& x, int64_t sections) {
  return Sections(lazy::ops::Vsplit, x, sections, 0);
}
std::vector<Tensor> Vsplit(const Operand& x, DimList indices) {
  return TensorSplit(x, indices, SplitDim(lazy::ops::Vsplit, x, 0));
}
std::vector<Tensor> Dsplit(const Operand& x, int64_t sections) {
  return Sections(lazy::ops::Dsplit, x, sections, 2);
}
std::vector<Tensor> Dsplit(const Operand& x, DimList indices) {
  return TensorSplit(x, indices, SplitDim(lazy::ops::Dsplit, x, 2));
}

std::vector<Tensor> Unbind(const Operand& x, int64_t dim) {
  RequireDimensions(lazy::ops::Unbind, x);
  const int64_t at = DimOf(lazy::ops::Unbind, x, dim);
  std::vector<Tensor> pieces;
  for (int64_t i = 0; i < x.tensor()->dims()[at]; ++i)
    pieces.push_back(x.tensor()->Select(at, i, x.caller()));
  return pieces;
}

}  // namespace hlod
