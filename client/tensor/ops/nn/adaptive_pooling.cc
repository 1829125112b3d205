// Adaptive pooling: divides each dimension into a given number of parts of nearly equal sizes.
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/nn/pooling.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/nn/pooling.h"

namespace hlod {
namespace {

using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Placed;
using lazy::Refuse;

// Returns the number of parts of each of the last dimensions; -1 in `output` keeps the number of elements.
Dims PartsOf(Lowering& l, Op x, int64_t spatial, const Sizes& output) {
  lazy::RequireSpatial(l, x, spatial);
  Dims parts = lazy::SizesFor(output, spatial, "the output size", -1);
  const Dims& dims = l.dims(x);
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t size = dims[dims.size() - spatial + i];
    if (parts[i] == -1) parts[i] = size;
    if (size == 0) Refuse("dimension %d has no elements", dims.size() - spatial + i);
    constexpr int64_t kMost = 1 << 16;  // Each part is instructions of the program.
    if (parts[i] > kMost && parts[i] > size)
      Refuse("%d parts of %d elements are more than %d", parts[i], size, kMost);
  }
  return parts;
}

// Calls `reduce` with the slice of each part. Part k covers floor(k n / parts) to ceil((k + 1) n / parts).
template <typename T, typename Reduce>
std::vector<T> Parts(int64_t size, int64_t parts, Reduce reduce) {
  std::vector<T> reduced;
  for (int64_t k = 0; k < parts; ++k) {
    reduced.push_back(reduce(k * size / parts, ((k + 1) * size + parts - 1) / parts));
  }
  return reduced;
}

Op Kept(Lowering& l, Op reduced, int64_t dim) {
  Dims with = l.dims(reduced);
  with.insert(with.begin() + dim, 1);
  return l.Reshape(reduced, with);
}

Op WithoutParts(Lowering& l, Op x, int64_t dim) { return lazy::SliceDim(l, x, dim, 0, 0); }

Op MeanOfParts(Lowering& l, Op x, int64_t dim, int64_t parts) {
  if (parts == 0) return WithoutParts(l, x, dim);
  const std::vector<Op> means = Parts<Op>(l.dims(x)[dim], parts, [&](int64_t start, int64_t end) {
    const Op sum = l.Reduce(hlo::kAdd, lazy::SliceDim(l, x, dim, start, end), {dim});
    return Kept(l, sum / l.Number(l.type(x), end - start), dim);
  });
  return lazy::Joined(l, means, dim);
}

Placed MaximumOfParts(Lowering& l, Placed x, int64_t dim, int64_t parts) {
  if (parts == 0) return {WithoutParts(l, x.value, dim), WithoutParts(l, x.place, dim)};
  const PrimitiveType type = l.type(x.value);
  const Placed nothing = lazy::PlacedNothing(l, type);
  const std::vector<Placed> maxima =
      Parts<Placed>(l.dims(x.value)[dim], parts, [&](int64_t start, int64_t end) -> Placed {
        const Op both = l.b.Add(hlo::kReduce,
                                {lazy::SliceDim(l, x.value, dim, start, end),
                                 lazy::SliceDim(l, x.place, dim, start, end), nothing.value, nothing.place},
                                hlo::DimensionsAttributes{{dim}}, {lazy::PlacedMaximum(type)});
        return {Kept(l, l.b.GetTupleElement(both, 0), dim), Kept(l, l.b.GetTupleElement(both, 1), dim)};
      });
  std::vector<Op> values, places;
  for (const Placed& one : maxima) {
    values.push_back(one.value);
    places.push_back(one.place);
  }
  return {lazy::Joined(l, values, dim), lazy::Joined(l, places, dim)};
}

Tensor Mean(const Operand& x, int64_t spatial, const Sizes& output) {
  return lazy::Call(lazy::ops::AdaptiveAvgPool, {x}, [&](Lowering& l, Operands o) {
    const PrimitiveType type = l.type(o[0]);
    if (!hlo::IsFloat(type)) Refuse("the mean of %s is not defined", hlo::Name(type));
    const Dims parts = PartsOf(l, o[0], spatial, output);
    Op in = l.Convert(o[0], hlo::Info(type).bits < 32 ? hlo::kF32 : type);
    const int64_t first = lazy::RankOf(l, in) - spatial;
    for (int64_t i = 0; i < spatial; ++i) in = MeanOfParts(l, in, first + i, parts[i]);
    return l.Convert(in, type);
  });
}

ValuesAndIndices Max(const Operand& x, int64_t spatial, const Sizes& output) {
  std::vector<Tensor> both = lazy::CallSeveral(lazy::ops::AdaptiveMaxPool, {x}, [&](Lowering& l, Operands o) {
    if (hlo::IsComplex(l.type(o[0]))) Refuse("complex numbers have no order");
    const Dims parts = PartsOf(l, o[0], spatial, output);
    Placed in = lazy::PlacedOps(l, o[0], spatial);
    const int64_t first = lazy::RankOf(l, o[0]) - spatial;
    for (int64_t i = 0; i < spatial; ++i) in = MaximumOfParts(l, in, first + i, parts[i]);
    return std::vector<Op>{in.value, in.place};
  });
  return {both[0], both[1]};
}

}  // namespace

Tensor AdaptiveAvgPool1d(const Operand& x, Sizes output) { return Mean(x, 1, output); }
Tensor AdaptiveAvgPool2d(const Operand& x, Sizes output) { return Mean(x, 2, output); }
Tensor AdaptiveAvgPool3d(const Operand& x, Sizes output) { return Mean(x, 3, output); }
ValuesAndIndices AdaptiveMaxPool1d(const Operand& x, Sizes output) { return Max(x, 1, output); }
ValuesAndIndices AdaptiveMaxPool2d(const Operand& x, Sizes output) { return Max(x, 2, output); }
ValuesAndIndices AdaptiveMaxPool3d(const Operand& x, Sizes output) { return Max(x, 3, output); }

}  // namespace hlod
