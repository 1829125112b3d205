// Pooling: windows reduced.
#include "hlod/ops/pooling.h"

#include <algorithm>

#include "client/tensor/apply.h"
#include "client/tensor/ops/movement.h"

namespace hlod {
namespace {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;

struct Pool {
  Dims kernel, stride, padding, dilation;
  bool ceil_mode;
};

Pool MakePool(int64_t spatial, const Sizes& kernel, const std::optional<Sizes>& stride, const Sizes& padding,
              const Sizes& dilation, bool ceil_mode) {
  Pool pool;
  pool.kernel = lazy::SizesFor(kernel, spatial, "the kernel size", 1);
  pool.stride = stride.has_value() ? lazy::SizesFor(*stride, spatial, "the stride", 1) : pool.kernel;
  pool.padding = lazy::SizesFor(padding, spatial, "the padding", 0);
  pool.dilation = lazy::SizesFor(dilation, spatial, "the dilation", 1);
  pool.ceil_mode = ceil_mode;
  for (int64_t i = 0; i < spatial; ++i) {
    if (pool.padding[i] > pool.kernel[i] / 2) {
      Refuse("the padding %s must be at most half of the kernel size %s", ListText(pool.padding),
             ListText(pool.kernel));
    }
  }
  return pool;
}

void RequireSpatial(Lowering& l, Op x, int64_t spatial) {
  const int64_t rank = lazy::RankOf(l, x);
  if (rank != spatial + 1 && rank != spatial + 2) {
    Refuse("shape %s is not [batch, channels] and %d dimensions", ListText(l.dims(x)), spatial);
  }
}

// How many windows stand in `size` elements.
int64_t Number(const Pool& pool, size_t i, int64_t size) {
  const int64_t reach = pool.dilation[i] * (pool.kernel[i] - 1) + 1;
  const int64_t room = size + 2 * pool.padding[i] - reach;
  if (room < 0 && !(pool.ceil_mode && room > -pool.stride[i])) {
    Refuse("a window of size %d does not fit %d elements padded by %d", reach, size, pool.padding[i]);
  }
  int64_t number = (room + (pool.ceil_mode ? pool.stride[i] - 1 : 0)) / pool.stride[i] + 1;
  // The last window begins inside the input or its low padding.
  if (pool.ceil_mode && (number - 1) * pool.stride[i] >= size + pool.padding[i]) --number;
  return number;
}

Op Reduced(Lowering& l, Op x, const Pool& pool, hlo::Opcode opcode) {
  const Dims dims = l.dims(x);
  const size_t first = dims.size() - pool.kernel.size();
  hlo::Window windows(dims.size());
  for (size_t i = 0; i < pool.kernel.size(); ++i) {
    const int64_t size = dims[first + i], number = Number(pool, i, size);
    const int64_t reach = pool.dilation[i] * (pool.kernel[i] - 1) + 1;
    hlo::WindowDimension& window = windows[first + i];
    window.size = pool.kernel[i];
    window.stride = pool.stride[i];
    window.window_dilation = pool.dilation[i];
    window.padding_low = pool.padding[i];
    window.padding_high = (number - 1) * pool.stride[i] + reach - size - pool.padding[i];
  }
  const PrimitiveType type = l.type(x);
  return l.b.ReduceWindow(x, l.b.Constant(lazy::NeutralLiteral(opcode, type)), windows,
                          l.Reducer(opcode, type));
}

// What each window of a dimension divides by.
std::vector<int64_t> Counts(const Pool& pool, size_t i, int64_t size, int64_t number, bool with_padding) {
  std::vector<int64_t> counts;
  for (int64_t k = 0; k < number; ++k) {
    int64_t start = k * pool.stride[i] - pool.padding[i];
    int64_t end = std::min(start + pool.kernel[i], size + pool.padding[i]);
    if (!with_padding) {
      start = std::max<int64_t>(start, 0);
      end = std::min(end, size);
    }
    counts.push_back(end - start);
  }
  return counts;
}

Op AvgOps(Lowering& l, Op x, const Pool& pool, const AvgPoolOptions& options) {
  const PrimitiveType type = l.type(x);
  const Dims from = l.dims(x);
  // f16 and bf16 add up in f32.
  const PrimitiveType wide = hlo::IsFloat(type) && hlo::Info(type).bits < 32 ? hlo::kF32 : type;
  Op sum = Reduced(l, l.Convert(x, wide), pool, hlo::kAdd);
  if (options.divisor.has_value()) {
    if (*options.divisor == 0) Refuse("the divisor must not be 0");
    return l.Convert(sum / l.Number(wide, *options.divisor), type);
  }
  const Dims dims = l.dims(sum);
  const size_t first = dims.size() - pool.kernel.size();
  int64_t common = 1;
  Op counts = l.Full(wide, dims, 1);
  for (size_t i = 0; i < pool.kernel.size(); ++i) {
    const std::vector<int64_t> each =
        Counts(pool, i, from[first + i], dims[first + i], options.count_include_pad);
    if (std::all_of(each.begin(), each.end(), [&](int64_t count) { return count == each[0]; })) {
      common *= each.empty() ? 1 : each[0];
      continue;
    }
    const Op column = l.Convert(lazy::IndexVector(l, each), wide);
    counts = counts * l.b.Broadcast(column, dims, {static_cast<int64_t>(first + i)});
  }
  return l.Convert(sum / (counts * l.Number(wide, common)), type);
}

Tensor Max(const Operand& x, int64_t spatial, const Sizes& kernel, const MaxPoolOptions& options) {
  return lazy::Call(lazy::ops::MaxPool, {x}, [&](Lowering& l, Operands o) {
    RequireSpatial(l, o[0], spatial);
    return Reduced(
        l, o[0],
        MakePool(spatial, kernel, options.stride, options.padding, options.dilation, options.ceil_mode),
        hlo::kMaximum);
  });
}
Tensor Avg(const Operand& x, int64_t spatial, const Sizes& kernel, const AvgPoolOptions& options) {
  return lazy::Call(lazy::ops::AvgPool, {x}, [&](Lowering& l, Operands o) {
    RequireSpatial(l, o[0], spatial);
    const Pool pool = MakePool(spatial, kernel, options.stride, options.padding, 1, options.ceil_mode);
    return AvgOps(l, o[0], pool, options);
  });
}

// One dimension as the means of `parts` pieces, piece k from floor(k n / parts) to ceil((k + 1) n / parts).
Op AdaptiveMean(Lowering& l, Op x, int64_t dim, int64_t parts) {
  const int64_t size = l.dims(x)[dim];
  if (size == 0) Refuse("dimension %d has no elements", dim);
  std::vector<Op> means;
  for (int64_t k = 0; k < parts; ++k) {
    const int64_t start = k * size / parts, end = ((k + 1) * size + parts - 1) / parts;
    const Op sum = l.Reduce(hlo::kAdd, lazy::SliceDim(l, x, dim, start, end), {dim});
    Dims with = l.dims(sum);
    with.insert(with.begin() + dim, 1);
    means.push_back(l.Reshape(sum / l.Number(l.type(x), end - start), with));
  }
  return lazy::Joined(l, means, dim);
}

Tensor Adaptive(const Operand& x, int64_t spatial, const Sizes& output) {
  return lazy::Call(lazy::ops::AdaptiveAvgPool, {x}, [&](Lowering& l, Operands o) {
    RequireSpatial(l, o[0], spatial);
    const PrimitiveType type = l.type(o[0]);
    if (!hlo::IsFloat(type)) Refuse("the mean of %s is not defined", hlo::Name(type));
    const Dims parts = lazy::SizesFor(output, spatial, "the output size", 1);
    Op in = l.Convert(o[0], hlo::Info(type).bits < 32 ? hlo::kF32 : type);
    const int64_t first = lazy::RankOf(l, in) - spatial;
    for (int64_t i = 0; i < spatial; ++i) in = AdaptiveMean(l, in, first + i, parts[i]);
    return l.Convert(in, type);
  });
}

}  // namespace

Tensor MaxPool1d(const Operand& x, Sizes kernel, MaxPoolOptions options) {
  return Max(x, 1, kernel, options);
}
Tensor MaxPool2d(const Operand& x, Sizes kernel, MaxPoolOptions options) {
  return Max(x, 2, kernel, options);
}
Tensor MaxPool3d(const Operand& x, Sizes kernel, MaxPoolOptions options) {
  return Max(x, 3, kernel, options);
}
Tensor AvgPool1d(const Operand& x, Sizes kernel, AvgPoolOptions options) {
  return Avg(x, 1, kernel, options);
}
Tensor AvgPool2d(const Operand& x, Sizes kernel, AvgPoolOptions options) {
  return Avg(x, 2, kernel, options);
}
Tensor AvgPool3d(const Operand& x, Sizes kernel, AvgPoolOptions options) {
  return Avg(x, 3, kernel, options);
}
Tensor AdaptiveAvgPool1d(const Operand& x, Sizes output) { return Adaptive(x, 1, output); }
Tensor AdaptiveAvgPool2d(const Operand& x, Sizes output) { return Adaptive(x, 2, output); }

}  // namespace hlod
