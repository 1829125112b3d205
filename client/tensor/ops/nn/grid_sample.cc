// Sampling images at the points of a grid.
#include <array>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/arrangement.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/interpolation.h"

namespace hlod {

using lazy::CompareOps;
using lazy::ListText;
using lazy::Lowering;
using lazy::N;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;
using lazy::SelectOps;

namespace {

Op Floor(Lowering& l, Op x) { return l.b.Unary(hlo::kFloor, x); }

// Maps coordinates from [-1, 1] to positions among `size` elements.
Op Position(Lowering& l, Op x, int64_t size, bool align_corners) {
  const Op one = N(l, x, 1), half = N(l, x, 0.5);
  if (align_corners) return (x + one) * N(l, x, static_cast<double>(size - 1) / 2);
  return ((x + one) * N(l, x, size) - one) * half;
}

Op Bordered(Lowering& l, Op x, int64_t size) { return l.b.Clamp(N(l, x, 0), x, N(l, x, size - 1)); }

// Reflects x at low / 2 and high / 2 until it is between them.
Op Reflected(Lowering& l, Op x, int64_t low, int64_t high) {
  if (low == high) return x * N(l, x, 0);
  const double least = static_cast<double>(low) / 2, span = static_cast<double>(high - low) / 2;
  const Op distance = l.b.Unary(hlo::kAbs, x - N(l, x, least));
  const Op times = Floor(l, distance / N(l, x, span));
  const Op rest = distance - times * N(l, x, span);
  const Op half = times / N(l, x, 2);
  const Op even = l.b.Compare(half, Floor(l, half), Order::kEq);
  return SelectOps(l, even, rest + N(l, x, least), N(l, x, span + least) - rest);
}

// Returns the position that the padding mode maps x to.
Op Padded(Lowering& l, Op x, int64_t size, const GridSampleOptions& options) {
  if (options.padding == GridPadding::kZeros) return x;
  if (options.padding == GridPadding::kReflection) {
    x = options.align_corners ? Reflected(l, x, 0, 2 * (size - 1)) : Reflected(l, x, -1, 2 * size - 1);
  }
  return Bordered(l, x, size);
}

// An element near each point along one dimension: its position (an integer in the float type) and its weight.
struct Neighbour {
  Op position, weight;
};

std::vector<Neighbour> CubicNeighbours(Lowering& l, Op at, int64_t size, const GridSampleOptions& options) {
  constexpr double kA = -0.75;
  const Op floor = Floor(l, at), t = at - floor, one = N(l, at, 1);
  const auto near = [&](Op d) { return ((N(l, d, kA + 2) * d - N(l, d, kA + 3)) * d) * d + one; };
  const auto far = [&](Op d) {
    return ((N(l, d, kA) * d - N(l, d, 5 * kA)) * d + N(l, d, 8 * kA)) * d - N(l, d, 4 * kA);
  };
  const Op weights[] = {far(t + one), near(t), near(one - t), far(N(l, at, 2) - t)};
  std::vector<Neighbour> neighbours;
  for (int i = 0; i < 4; ++i) {
    neighbours.push_back({Padded(l, floor + N(l, at, i - 1), size, options), weights[i]});
  }
  return neighbours;
}

std::vector<Neighbour> Neighbours(Lowering& l, Op grid, int64_t size, const GridSampleOptions& options) {
  const Op at = Position(l, grid, size, options.align_corners);
  if (options.mode == GridMode::kBicubic) return CubicNeighbours(l, at, size, options);
  const Op inside = Padded(l, at, size, options), one = N(l, at, 1);
  if (options.mode == GridMode::kNearest) {
    return {{l.b.Unary(hlo::kRoundNearestEven, inside), l.Full(l.type(at), l.dims(at), 1)}};
  }
  const Op low = Floor(l, inside), second = inside - low;
  return {{low, one - second}, {low + one, second}};
}

// Gathers x [n, channels, elements] at `index` [n, points]; returns [n, channels, points].
Op AtPoints(Lowering& l, Op x, Op index) {
  hlo::GatherAttributes gather;
  gather.offset_dims = {1};
  gather.collapsed_slice_dims = {2};
  gather.start_index_map = {2};
  gather.operand_batching_dims = {0};
  gather.start_indices_batching_dims = {0};
  gather.index_vector_dim = 2;
  gather.slice_sizes = {1, l.dims(x)[1], 1};
  return l.b.Add(hlo::kGather, {x, index}, gather);
}

// Sums over all combinations of neighbours, one per dimension.
struct Sampler {
  Lowering& l;
  Op image;    // [n, channels, elements]
  Dims sizes;  // The image's sizes, outermost first.
  std::vector<std::vector<Neighbour>> neighbours;

  Op sum;
  bool first = true;

  // Adds the combinations that extend a choice of the first `dim` neighbours, whose `index`, `weight` and
  // `inside` are given.
  void Add(size_t dim, Op index, Op weight, Op inside) {
    if (dim == sizes.size()) {
      const Op values = AtPoints(l, image, index);
      const Dims dims = l.dims(values);
      // Elements beyond the edges count as 0, even if NaN was gathered.
      const Op masked =
          l.b.Select(l.b.Broadcast(inside, dims, {0, 2}), values, l.Full(l.type(values), dims, 0));
      const Op part = masked * l.b.Broadcast(weight, dims, {0, 2});
      sum = first ? part : sum + part;
      first = false;
      return;
    }
    for (const Neighbour& one : neighbours[dim]) {
      const Op low = CompareOps(l, one.position, 0, Order::kGe);
      const Op high = CompareOps(l, one.position, static_cast<double>(sizes[dim] - 1), Order::kLe);
      const Op here = l.b.Binary(hlo::kAnd, low, high);
      const Op at = l.b.Convert(Bordered(l, one.position, sizes[dim]), hlo::kS64);
      if (dim == 0) {
        Add(1, at, one.weight, here);
      } else {
        Add(dim + 1, index * l.Number(hlo::kS64, sizes[dim]) + at, weight * one.weight,
            l.b.Binary(hlo::kAnd, inside, here));
      }
    }
  }
};

Op SampleOps(Lowering& l, Op x, Op grid, const GridSampleOptions& options) {
  const Dims dims = l.dims(x), points = l.dims(grid);
  const size_t rank = dims.size(), spatial = rank - 2;
  if ((rank != 4 && rank != 5) || points.size() != rank || points[0] != dims[0] ||
      points.back() != static_cast<int64_t>(spatial)) {
    Refuse("images of shape %s and points of shape %s do not fit", ListText(dims), ListText(points));
  }
  if (options.mode == GridMode::kBicubic && rank != 4)
    Refuse("bicubic sampling takes images of two dimensions");
  const Dims sizes(dims.begin() + 2, dims.end());
  for (const int64_t size : sizes) {
    if (size == 0) Refuse("images of shape %s have no elements", ListText(dims));
  }
  const Dims output(points.begin() + 1, points.end() - 1);
  Dims to = {dims[0], dims[1]};
  to.insert(to.end(), output.begin(), output.end());
  if (lazy::Count(to) == 0) return l.Full(l.type(x), to, 0);
  const int64_t count = lazy::Count(output);
  Sampler sampler{l, l.Reshape(x, {dims[0], dims[1], lazy::Count(sizes)}), sizes, {}, {}};
  const Op flat = l.Reshape(grid, {points[0], count, points.back()});
  for (size_t i = 0; i < spatial; ++i) {
    // The last coordinate is that of the outermost dimension.
    const auto from = static_cast<int64_t>(spatial - 1 - i);
    const Op coordinate = l.Reshape(lazy::SliceDim(l, flat, 2, from, from + 1), {points[0], count});
    sampler.neighbours.push_back(Neighbours(l, coordinate, sizes[i], options));
  }
  sampler.Add(0, {}, {}, {});
  return l.Reshape(sampler.sum, to);
}

}  // namespace

Tensor GridSample(const Operand& x, const Operand& grid, const GridSampleOptions& options) {
  return lazy::Binary(lazy::ops::GridSample, x, grid, [&](Lowering& l, Op x, Op grid) {
    const PrimitiveType type = l.type(x);
    if (!hlo::IsFloat(type)) Refuse("sampling of %s is not defined", hlo::Name(type));
    const PrimitiveType wide = lazy::WideType(type);
    return l.Convert(SampleOps(l, l.Convert(x, wide), l.Convert(grid, wide), options), type);
  });
}

// The grid: base coordinates [n, points, rank + 1] times the transposed transformations.
Tensor AffineGrid(const Tensor& theta, DimList size, bool align_corners) {
  const auto rank = static_cast<int64_t>(size.size()) - 2;
  const Operand operand(theta);
  lazy::Explain(lazy::ops::GridSample, {&operand, 1}, operand.caller(), [&] {
    if ((rank != 2 && rank != 3) || theta.dims() != Dims{size[0], rank, rank + 1}) {
      Refuse("transformations of shape %s do not fit an output of shape %s", ListText(theta.dims()),
             ListText(size));
    }
  });
  const Dims output(size.begin() + 2, size.end());
  std::vector<Tensor> coordinates;
  for (int64_t i = rank; i-- > 0;) {  // Starts with the innermost dimension.
    const auto n = static_cast<double>(output[i]);
    const Tensor index = Arange(0, output[i], 1, {.type = theta.dtype(), .device = theta.device()});
    Tensor at = align_corners ? index * (n > 1 ? 2 / (n - 1) : 0) - (n > 1 ? 1 : 0) : (index * 2 + 1) / n - 1;
    Dims shape(static_cast<size_t>(rank), 1);
    shape[i] = output[i];
    coordinates.push_back(at.Reshape(shape).Expand(output).Reshape({-1}));
  }
  coordinates.push_back(Ones({lazy::Count(output)}, {.type = theta.dtype(), .device = theta.device()}));
  const Tensor grid = MatMul(Stack(coordinates, 1), theta.Transpose(1, 2));
  Dims to = {size[0]};
  to.insert(to.end(), output.begin(), output.end());
  to.push_back(rank);
  return grid.Reshape(to);
}

}  // namespace hlod
