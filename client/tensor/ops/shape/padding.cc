// Padding; windows as columns (im2col) and back.
#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/ops/shape/whole_numbers.h"
#include "hlod/ops/arrangement.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;
using lazy::TensorOf;

namespace {

// Returns the padding on one side of a dimension: `amount` elements beyond its low or high end.
Op Beyond(Lowering& l, Op x, int64_t dim, int64_t amount, bool low, PadMode mode) {
  const int64_t size = l.dims(x)[dim];
  switch (mode) {
    case PadMode::kReflect:
      if (amount >= size)
        Refuse("a reflection by %d needs more than %d elements in dimension %d", amount, size, dim);
      return lazy::Reversed(l,
                            low ? lazy::SliceDim(l, x, dim, 1, amount + 1)
                                : lazy::SliceDim(l, x, dim, size - 1 - amount, size - 1),
                            {dim});
    case PadMode::kCircular:
      if (amount > size)
        Refuse("padding by %d wraps around the %d elements of dimension %d more than once", amount, size,
               dim);
      return low ? lazy::SliceDim(l, x, dim, size - amount, size) : lazy::SliceDim(l, x, dim, 0, amount);
    default: break;
  }
  if (size == 0) Refuse("dimension %d has no elements to repeat", dim);
  Dims dims = l.dims(x);
  dims[dim] = amount;
  return l.BroadcastTo(low ? lazy::SliceDim(l, x, dim, 0, 1) : lazy::SliceDim(l, x, dim, size - 1, size),
                       dims);
}

Op PadDimension(Lowering& l, Op x, int64_t dim, int64_t low, int64_t high, PadMode mode) {
  const int64_t size = l.dims(x)[dim];
  const int64_t cut_low = std::max<int64_t>(-low, 0), cut_high = std::max<int64_t>(-high, 0);
  if (mode == PadMode::kCircular && cut_low + cut_high > 0) {  // Only elements that are left come around.
    const Op rest = lazy::SliceDim(l, x, dim, cut_low, size - cut_high);
    return PadDimension(l, rest, dim, std::max<int64_t>(low, 0), std::max<int64_t>(high, 0), mode);
  }
  std::vector<Op> parts;
  if (low > 0) parts.push_back(Beyond(l, x, dim, low, true, mode));
  parts.push_back(lazy::SliceDim(l, x, dim, cut_low, size - cut_high));
  if (high > 0) parts.push_back(Beyond(l, x, dim, high, false, mode));
  return lazy::Joined(l, parts, dim);
}

Op PadOps(Lowering& l, Op x, DimList padding, PadMode mode, const Scalar& value) {
  const auto rank = static_cast<int64_t>(l.dims(x).size()), pairs = static_cast<int64_t>(padding.size() / 2);
  if (padding.size() % 2 != 0 || pairs > rank) {
    Refuse("padding %s is not a pair for some of %d dimensions", ListText(padding), rank);
  }
  std::vector<hlo::PadDimension> amounts(rank);
  for (int64_t i = 0; i < pairs; ++i) {
    const int64_t dim = rank - 1 - i, low = padding[2 * i], high = padding[2 * i + 1], size = l.dims(x)[dim];
    if (low < -size || high < -size || std::min<int64_t>(low, 0) + std::min<int64_t>(high, 0) < -size)
      Refuse("padding (%d, %d) cuts more than the %d elements of dimension %d", low, high, size, dim);
    amounts[dim] = {low, high, 0};
  }
  if (mode == PadMode::kConstant) return l.b.Pad(x, l.Setting(l.type(x), value, "value"), amounts);
  for (int64_t dim = rank; dim-- > 0;) {
    if (amounts[dim].low != 0 || amounts[dim].high != 0) {
      x = PadDimension(l, x, dim, amounts[dim].low, amounts[dim].high, mode);
    }
  }
  return x;
}

struct Windows {
  Dims kernel, dilation, padding, stride;

  Windows(const Sizes& kernel_sizes, const UnfoldOptions& options)
      : kernel(lazy::SizesFor(kernel_sizes, 2, "the kernel size", 1)),
        dilation(lazy::SizesFor(options.dilation, 2, "the dilation", 1)),
        padding(lazy::SizesFor(options.padding, 2, "the padding", 0)),
        stride(lazy::SizesFor(options.stride, 2, "the stride", 1)) {}

  // Returns the number of windows that fit dimension i of `size`.
  int64_t Number(int64_t i, int64_t size) const {
    const int64_t room = size + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1;
    if (room < 0) {
      Refuse("a window of size %d with dilation %d does not fit %d elements padded by %d", kernel[i],
             dilation[i], size, padding[i]);
    }
    return room / stride[i] + 1;
  }
};

// Splits dimension `dim` in two: the element within a window, and the window.
Op Unfolded(Lowering& l, Op x, int64_t dim, const Windows& windows, int64_t i) {
  const int64_t number = windows.Number(i, l.dims(x)[dim]);
  x = lazy::PadDim(l, x, l.Number(l.type(x), 0), dim, {windows.padding[i], windows.padding[i], 0});
  std::vector<Op> parts;
  for (int64_t k = 0; k < windows.kernel[i]; ++k) {
    const int64_t start = k * windows.dilation[i];
    const Op part =
        lazy::SliceDim(l, x, dim, start, start + (number - 1) * windows.stride[i] + 1, windows.stride[i]);
    Dims with = l.dims(part);
    with.insert(with.begin() + dim, 1);
    parts.push_back(l.Reshape(part, with));
  }
  return lazy::Joined(l, parts, dim);
}

// Reverses Unfolded(): adds up the elements that have the same position.
Op Folded(Lowering& l, Op x, int64_t dim, int64_t size, const Windows& windows, int64_t i) {
  const Op zero = l.Number(l.type(x), 0);
  const int64_t number = l.dims(x)[dim + 1], padded = size + 2 * windows.padding[i];
  Op sum;
  for (int64_t k = 0; k < windows.kernel[i]; ++k) {
    Dims without = l.dims(x);
    without.erase(without.begin() + dim);
    const Op part = l.Reshape(lazy::SliceDim(l, x, dim, k, k + 1), without);
    const int64_t low = k * windows.dilation[i], covered = (number - 1) * windows.stride[i] + 1;
    const Op placed = lazy::PadDim(l, part, zero, dim, {low, padded - low - covered, windows.stride[i] - 1});
    sum = k == 0 ? placed : sum + placed;
  }
  return lazy::SliceDim(l, sum, dim, windows.padding[i], windows.padding[i] + size);
}

}  // namespace

Tensor Pad(const Operand& x, DimList padding, PadMode mode, Scalar value) {
  if (mode == PadMode::kConstant)
    lazy::RequireFits(lazy::ops::Pad, lazy::TensorOf(lazy::ops::Pad, x).dtype(), Operand(value, x.caller()));
  return lazy::Call(lazy::ops::Pad, {x},
                    [&](Lowering& l, Operands o) { return PadOps(l, o[0], padding, mode, value); });
}

Tensor PixelShuffle(const Operand& x, int64_t factor) {
  return lazy::Call(lazy::ops::PixelShuffle, {x}, [&](Lowering& l, Operands o) {
    const Dims dims = l.dims(o[0]);
    const auto rank = static_cast<int64_t>(dims.size());
    if (rank < 3 || factor <= 0 || dims[rank - 3] % factor != 0 || dims[rank - 3] / factor % factor != 0) {
      Refuse("the channels of shape %s do not divide by the factor %d squared", ListText(dims), factor);
    }
    const int64_t c = dims[rank - 3] / factor / factor, h = dims[rank - 2], w = dims[rank - 1];
    Dims batch(dims.begin(), dims.end() - 3);
    const int64_t n = lazy::Count(batch);
    const Op split = l.Reshape(o[0], {n, c, factor, factor, h, w});
    batch.insert(batch.end(), {c, lazy::SizeTimes(h, factor), lazy::SizeTimes(w, factor)});
    return l.Reshape(lazy::Permuted(l, split, {0, 1, 4, 2, 5, 3}), batch);
  });
}

Tensor PixelUnshuffle(const Operand& x, int64_t factor) {
  return lazy::Call(lazy::ops::PixelUnshuffle, {x}, [&](Lowering& l, Operands o) {
    const Dims dims = l.dims(o[0]);
    const auto rank = static_cast<int64_t>(dims.size());
    if (rank < 3 || factor <= 0 || dims[rank - 2] % factor != 0 || dims[rank - 1] % factor != 0) {
      Refuse("the last two sizes of shape %s do not divide by the factor %d", ListText(dims), factor);
    }
    const int64_t c = dims[rank - 3], h = dims[rank - 2] / factor, w = dims[rank - 1] / factor;
    Dims batch(dims.begin(), dims.end() - 3);
    const Op split = l.Reshape(o[0], {lazy::Count(batch), c, h, factor, w, factor});
    batch.insert(batch.end(), {lazy::SizeTimes(lazy::SizeTimes(c, factor), factor), h, w});
    return l.Reshape(lazy::Permuted(l, split, {0, 1, 3, 5, 2, 4}), batch);
  });
}

Tensor Unfold(const Operand& x, Sizes kernel, UnfoldOptions options) {
  return lazy::Call(lazy::ops::Im2col, {x}, [&](Lowering& l, Operands o) {
    const Dims dims = l.dims(o[0]);
    if (dims.size() != 3 && dims.size() != 4)
      Refuse("images are [N, C, H, W] or [C, H, W], not %s", ListText(dims));
    const bool batched = dims.size() == 4;
    Dims four = dims;
    if (!batched) four.insert(four.begin(), 1);
    const Windows windows(kernel, options);
    // [n, c, kh, oh, kw, ow]
    Op out = Unfolded(l, l.Reshape(o[0], four), 2, windows, 0);
    out = Unfolded(l, out, 4, windows, 1);
    const Dims six = l.dims(out);
    out = lazy::Permuted(l, out, {0, 1, 2, 4, 3, 5});
    Dims to = {six[0], six[1] * six[2] * six[4], six[3] * six[5]};
    if (!batched) to.erase(to.begin());
    return l.Reshape(out, to);
  });
}

Tensor Fold(const Operand& x, Sizes output, Sizes kernel, UnfoldOptions options) {
  return lazy::Call(lazy::ops::Fold, {x}, [&](Lowering& l, Operands o) {
    Dims dims = l.dims(o[0]);
    const bool batched = dims.size() == 3;
    if (dims.size() != 2 && !batched) Refuse("columns are [N, C k, L] or [C k, L], not %s", ListText(dims));
    if (!batched) dims.insert(dims.begin(), 1);
    const Windows windows(kernel, options);
    const Dims size = lazy::SizesFor(output, 2, "the output size", 1);
    const int64_t oh = windows.Number(0, size[0]), ow = windows.Number(1, size[1]);
    const int64_t area = windows.kernel[0] * windows.kernel[1];
    if (dims[1] % area != 0 || dims[2] != oh * ow) {
      Refuse("columns of shape %s are not windows of size %s at %d places of an output of size %s",
             ListText(l.dims(o[0])), ListText(windows.kernel), oh * ow, ListText(size));
    }
    Op in = l.Reshape(o[0], {dims[0], dims[1] / area, windows.kernel[0], windows.kernel[1], oh, ow});
    in = lazy::Permuted(l, in, {0, 1, 2, 4, 3, 5});
    in = Folded(l, in, 4, size[1], windows, 1);
    in = Folded(l, in, 2, size[0], windows, 0);
    Dims to = l.dims(in);
    if (!batched) to.erase(to.begin());
    return l.Reshape(in, to);
  });
}

}  // namespace hlod
