// Running sums, products and extremes.
#include "hlod/ops/cumulative.h"

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/reduction/scan.h"
#include "client/tensor/ops/shape/growing.h"
#include "client/tensor/ops/shape/movement.h"

namespace hlod {

using lazy::CompareOps;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;

namespace lazy {

namespace {

// Up to this size, PrefixesByDoubling needs fewer instructions and hardly more time.
constexpr int64_t kDoublingMax = 64;

// Doubles the steps: log2(n) joins, each of all elements.
std::vector<Op> PrefixesByDoubling(Lowering& l, std::vector<Op> x, int64_t dim, JoinOps join) {
  const int64_t size = l.dims(x[0])[dim];
  for (int64_t step = 1; step < size; step *= 2) {
    std::vector<Op> before, behind;
    for (const Op one : x) {
      before.push_back(SliceDim(l, one, dim, 0, size - step));
      behind.push_back(SliceDim(l, one, dim, step, size));
    }
    const std::vector<Op> joined = join(l, before, behind);
    for (size_t i = 0; i < x.size(); ++i) {
      const Op parts[] = {SliceDim(l, x[i], dim, 0, step), joined[i]};
      x[i] = Joined(l, parts, dim);
    }
  }
  return x;
}

// Alternates the elements of x and y; x may have one more.
Op Interleaved(Lowering& l, Op x, Op y, int64_t dim) {
  const Dims dims = l.dims(y);
  const int64_t pairs = dims[dim];
  Dims column = dims, both = dims;
  column.insert(column.begin() + dim + 1, 1);
  both[dim] = 2 * pairs;
  const Op parts[] = {l.b.Reshape(SliceDim(l, x, dim, 0, pairs), column), l.b.Reshape(y, column)};
  const Op joined = l.b.Reshape(Joined(l, parts, dim + 1), both);
  if (l.dims(x)[dim] == pairs) return joined;
  const Op all[] = {joined, SliceDim(l, x, dim, pairs, pairs + 1)};
  return Joined(l, all, dim);
}

// Joins neighbours, recursively, down to `doubling_max` elements.
std::vector<Op> PrefixesByHalves(Lowering& l, std::vector<Op> x, int64_t dim, JoinOps join,
                                 int64_t doubling_max = kDoublingMax) {
  const int64_t size = l.dims(x[0])[dim];
  if (size <= doubling_max) return PrefixesByDoubling(l, std::move(x), dim, join);
  const int64_t pairs = size / 2;
  std::vector<Op> even, odd;
  for (const Op one : x) {
    even.push_back(SliceDim(l, one, dim, 0, 2 * pairs, 2));
    odd.push_back(SliceDim(l, one, dim, 1, 2 * pairs, 2));
  }
  // The prefixes that end at odd positions are those of the pairs; the others are one element longer.
  const std::vector<Op> at_odd = PrefixesByHalves(l, join(l, even, odd), dim, join, doubling_max);
  std::vector<Op> before, behind;
  const int64_t longer = (size - 1) / 2;
  if (longer == 0) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = Interleaved(l, even[i], at_odd[i], dim);
    return x;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    before.push_back(SliceDim(l, at_odd[i], dim, 0, longer));
    behind.push_back(SliceDim(l, x[i], dim, 2, size, 2));
  }
  const std::vector<Op> at_even = join(l, before, behind);
  for (size_t i = 0; i < x.size(); ++i) {
    const Op parts[] = {SliceDim(l, x[i], dim, 0, 1), at_even[i]};
    x[i] = Interleaved(l, Joined(l, parts, dim), at_odd[i], dim);
  }
  return x;
}

// Returns the running products. Products within a part of the elements may overflow although no running
// product does: those of the last elements, if they are joined with padding. The gradient would multiply such
// an infinity by 0. Therefore an element of the padding (a one) is joined with ones, and a select keeps
// gradients from it.
//
// An example: the five elements 2^-60, 2^-60, 2^50, 2^50, 2^50, padded to eight. The running products end
// with 2^30. Without the select, the element behind them would become the product of the last three elements
// and a one, which is 2^150: an infinity in f32.
Op RunningProducts(Lowering& l, Op x, int64_t dim) {
  const auto join = [](Lowering& l, Operands before, Operands behind) {
    Op product = before[0];
    if (before.size() > 1)
      product = l.b.Select(behind[1], product, l.Full(l.type(product), l.dims(product), 1));
    std::vector<Op> joined = {l.b.Binary(hlo::kMultiply, product, behind[0])};
    if (before.size() > 1) joined.push_back(behind[1]);
    return joined;
  };
  const int64_t size = l.dims(x)[dim], padded = PaddedSize(l, x, dim);
  if (padded == size) return PrefixesByHalves(l, {x}, dim, join)[0];
  const Op inside =
      PaddedTo(l, l.Full(hlo::kPred, l.dims(x), true), dim, padded, l.Number(hlo::kPred, false));
  x = PaddedTo(l, x, dim, padded, l.Number(l.type(x), 1));
  return SliceDim(l, PrefixesByHalves(l, {x, inside}, dim, join)[0], dim, 0, size);
}

}  // namespace

std::vector<Op> PrefixesInPairs(Lowering& l, std::vector<Op> x, int64_t dim, JoinOps join) {
  return PrefixesByHalves(l, std::move(x), dim, join, 1);
}

std::vector<Op> Prefixes(Lowering& l, std::vector<Op> x, int64_t dim, JoinOps join, double padding) {
  if (l.dims(x[0]).empty()) return x;
  const int64_t size = l.dims(x[0])[dim], padded = PaddedSize(l, x[0], dim);
  for (Op& op : x) op = PaddedTo(l, op, dim, padded, l.Number(l.type(op), padding));
  x = PrefixesByHalves(l, std::move(x), dim, join);
  for (Op& op : x) op = SliceDim(l, op, dim, 0, size);
  return x;
}

Op Prefixes(Lowering& l, Op x, int64_t dim, hlo::Opcode opcode) {
  if (opcode == hlo::kMultiply && !l.dims(x).empty()) return RunningProducts(l, x, dim);
  const auto join = [opcode](Lowering& l, Operands before, Operands behind) {
    return std::vector<Op>{l.b.Binary(opcode, before[0], behind[0])};
  };
  return Prefixes(l, std::vector<Op>{x}, dim, join)[0];
}

}  // namespace lazy

namespace {

Tensor Accumulated(const lazy::Operation& operation, const Operand& x, int64_t dim, hlo::Opcode opcode) {
  return lazy::Unary(operation, x, [&](Lowering& l, Op x) {
    if (hlo::IsInteger(l.type(x))) x = l.Convert(x, hlo::kS64);
    const int64_t at = lazy::WrapDim(dim, lazy::RankOf(l, x));
    return lazy::InWide(l, x, [&](Lowering& l, Op x) { return lazy::Prefixes(l, x, at, opcode); });
  });
}

// Returns the extreme so far and its last position. From the first NaN on, the result is NaN.
ValuesAndIndices RunningExtreme(const lazy::Operation& operation, const Operand& x, int64_t dim,
                                Order direction) {
  const std::vector<Tensor> both = lazy::CallSeveral(operation, {x}, [&](Lowering& l, Operands o) {
    if (hlo::IsComplex(l.type(o[0]))) Refuse("complex numbers have no order");
    const Dims dims = l.dims(o[0]);
    const int64_t at = lazy::WrapDim(dim, lazy::RankOf(l, o[0]));
    const Op position = dims.empty() ? l.Number(hlo::kS64, 0) : lazy::IndexIota(l, dims, at);
    const auto join = [direction](Lowering& l, Operands before, Operands behind) {
      const Op later =
          l.b.Binary(hlo::kOr, lazy::NanOps(l, behind[0]), CompareOps(l, behind[0], before[0], direction));
      return std::vector<Op>{l.b.Select(later, behind[0], before[0]),
                             l.b.Select(later, behind[1], before[1])};
    };
    return lazy::Prefixes(l, {o[0], position}, at, join);
  });
  return {both[0], both[1]};
}

}  // namespace

Tensor Cumsum(const Operand& x, int64_t dim) { return Accumulated(lazy::ops::Cumsum, x, dim, hlo::kAdd); }
Tensor Cumprod(const Operand& x, int64_t dim) {
  return Accumulated(lazy::ops::Cumprod, x, dim, hlo::kMultiply);
}
ValuesAndIndices Cummax(const Operand& x, int64_t dim) {
  return RunningExtreme(lazy::ops::Cummax, x, dim, Order::kGe);
}
ValuesAndIndices Cummin(const Operand& x, int64_t dim) {
  return RunningExtreme(lazy::ops::Cummin, x, dim, Order::kLe);
}
Tensor Logcumsumexp(const Operand& x, int64_t dim) {
  return lazy::Unary(lazy::ops::Logcumsumexp, x, [&](Lowering& l, Op x) {
    if (!hlo::IsFloat(l.type(x))) Refuse("logcumsumexp takes floating types, not %s", hlo::Name(l.type(x)));
    const int64_t at = lazy::WrapDim(dim, lazy::RankOf(l, x));
    const auto join = [](Lowering& l, Operands before, Operands behind) {
      return std::vector<Op>{lazy::LogAddExpOps(l, before[0], behind[0])};
    };
    return lazy::InWide(
        l, x, [&](Lowering& l, Op x) { return lazy::Prefixes(l, std::vector<Op>{x}, at, join)[0]; });
  });
}

}  // namespace hlod
