// Pooling: reductions over windows.
#include "client/tensor/ops/nn/pooling.h"

#include <algorithm>
#include <limits>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/pooling.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Pool;
using lazy::Refuse;

namespace lazy {

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

int64_t WindowCount(const Pool& pool, size_t i, int64_t size) {
  const int64_t reach = pool.dilation[i] * (pool.kernel[i] - 1) + 1;
  const int64_t room = size + 2 * pool.padding[i] - reach;
  if (room < 0 && !(pool.ceil_mode && room > -pool.stride[i])) {
    Refuse("a window of size %d does not fit %d elements padded by %d", reach, size, pool.padding[i]);
  }
  int64_t number = (room + (pool.ceil_mode ? pool.stride[i] - 1 : 0)) / pool.stride[i] + 1;
  // The last window must begin inside the input or its low padding.
  if (pool.ceil_mode && (number - 1) * pool.stride[i] >= size + pool.padding[i]) --number;
  return number;
}

hlo::Window WindowsOf(const Pool& pool, const Dims& dims) {
  const size_t first = dims.size() - pool.kernel.size();
  hlo::Window windows(dims.size());
  for (size_t i = 0; i < pool.kernel.size(); ++i) {
    const int64_t size = dims[first + i], number = WindowCount(pool, i, size);
    const int64_t reach = pool.dilation[i] * (pool.kernel[i] - 1) + 1;
    hlo::WindowDimension& window = windows[first + i];
    window.size = pool.kernel[i];
    window.stride = pool.stride[i];
    window.window_dilation = pool.dilation[i];
    window.padding_low = pool.padding[i];
    window.padding_high = (number - 1) * pool.stride[i] + reach - size - pool.padding[i];
  }
  return windows;
}

Placed PlacedOps(Lowering& l, Op x, int64_t spatial) {
  const Dims dims = l.dims(x);
  const Dims plane(dims.end() - spatial, dims.end());
  const Op places = l.Reshape(IndexIota(l, {Count(plane)}, 0), plane);
  Dims last;
  for (int64_t i = RankOf(l, x) - spatial; i < RankOf(l, x); ++i) last.push_back(i);
  return {x, l.b.Broadcast(places, dims, last)};
}

hlo::ComputationId PlacedMaximum(PrimitiveType type) {
  using enum hlo::ComparisonDirection;
  return TraceTables::Get().Callee("placed_maximum", [&](hlo::Builder& b) {
    const Op x = b.Parameter(0, Shape::Scalar(type)), i = b.Parameter(1, Shape::Scalar(hlo::kS64));
    const Op y = b.Parameter(2, Shape::Scalar(type)), j = b.Parameter(3, Shape::Scalar(hlo::kS64));
    const Op before = b.Compare(i, j, kLt);
    Op first = b.Binary(hlo::kOr, b.Compare(x, y, kGt), b.Binary(hlo::kAnd, b.Compare(x, y, kEq), before));
    if (hlo::IsFloat(type)) {
      const Op x_nan = b.Compare(x, x, kNe), y_number = b.Compare(y, y, kEq);
      first = b.Binary(hlo::kOr, first,
                       b.Binary(hlo::kAnd, x_nan, b.Binary(hlo::kOr, y_number, b.Unary(hlo::kNot, before))));
    }
    const Op both[] = {b.Select(first, x, y), b.Select(first, i, j)};
    return b.Tuple(both);
  });
}

Placed PlacedNothing(Lowering& l, PrimitiveType type) {
  return {l.b.Constant(NeutralLiteral(hlo::kMaximum, type)),
          l.b.Constant(Literal::Scalar<int64_t>(std::numeric_limits<int64_t>::max()))};
}

}  // namespace lazy

namespace {

using lazy::MakePool;
using lazy::RequireSpatial;

Op Reduced(Lowering& l, Op x, const Pool& pool, hlo::Opcode opcode) {
  const PrimitiveType type = l.type(x);
  return l.b.ReduceWindow(x, l.b.Constant(lazy::NeutralLiteral(opcode, type)),
                          lazy::WindowsOf(pool, l.dims(x)), l.Reducer(opcode, type));
}

// Returns the number of elements along the dimension that the sum of each window is divided by.
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
  // Sums of f16 and bf16 are accumulated in f32.
  const PrimitiveType wide = hlo::IsFloat(type) && hlo::Info(type).bits < 32 ? hlo::kF32 : type;
  Op sum = Reduced(l, l.Convert(x, wide), pool, hlo::kAdd);
  if (options.divisor.has_value()) {
    if (*options.divisor == 0) Refuse("the divisor must not be 0");
    return l.Convert(sum / l.Setting(wide, *options.divisor, "divisor"), type);
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

ValuesAndIndices MaxWithIndices(const Operand& x, int64_t spatial, const Sizes& kernel,
                                const MaxPoolOptions& options) {
  std::vector<Tensor> both = lazy::CallSeveral(lazy::ops::MaxPool, {x}, [&](Lowering& l, Operands o) {
    RequireSpatial(l, o[0], spatial);
    const Pool pool =
        MakePool(spatial, kernel, options.stride, options.padding, options.dilation, options.ceil_mode);
    const PrimitiveType type = l.type(o[0]);
    const lazy::Placed placed = lazy::PlacedOps(l, o[0], spatial), nothing = lazy::PlacedNothing(l, type);
    const Op pooled =
        l.b.Add(hlo::kReduceWindow, {placed.value, placed.place, nothing.value, nothing.place},
                hlo::WindowAttributes{lazy::WindowsOf(pool, l.dims(o[0]))}, {lazy::PlacedMaximum(type)});
    return std::vector<Op>{l.b.GetTupleElement(pooled, 0), l.b.GetTupleElement(pooled, 1)};
  });
  return {both[0], both[1]};
}

// Returns the p-th root of the sum of p-th powers, computed from the window's mean times its size.
Tensor Lp(const Operand& x, double order, const Sizes& kernel, const LpPoolOptions& options, int64_t spatial,
          Tensor (*mean)(const Operand&, Sizes, AvgPoolOptions)) {
  const CallerScope scope(x.caller());
  int64_t count = 1;
  lazy::Explain(lazy::ops::AvgPool, {&x, 1}, x.caller(),
                [&] { count = lazy::Count(lazy::SizesFor(kernel, spatial, "the kernel size", 1)); });
  const Tensor means =
      mean(Pow(x, order), kernel, {.stride = options.stride, .ceil_mode = options.ceil_mode});
  // The root is never taken of 0, where its derivative is infinite.
  const Tensor sums = means * count, zero = Eq(sums, 0);
  return Where(zero, 0, Pow(Where(zero, 1, sums), 1 / order));
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
ValuesAndIndices MaxPool1dWithIndices(const Operand& x, Sizes kernel, MaxPoolOptions options) {
  return MaxWithIndices(x, 1, kernel, options);
}
ValuesAndIndices MaxPool2dWithIndices(const Operand& x, Sizes kernel, MaxPoolOptions options) {
  return MaxWithIndices(x, 2, kernel, options);
}
ValuesAndIndices MaxPool3dWithIndices(const Operand& x, Sizes kernel, MaxPoolOptions options) {
  return MaxWithIndices(x, 3, kernel, options);
}
Tensor LpPool1d(const Operand& x, double order, Sizes kernel, LpPoolOptions options) {
  return Lp(x, order, kernel, options, 1, AvgPool1d);
}
Tensor LpPool2d(const Operand& x, double order, Sizes kernel, LpPoolOptions options) {
  return Lp(x, order, kernel, options, 2, AvgPool2d);
}

}  // namespace hlod
