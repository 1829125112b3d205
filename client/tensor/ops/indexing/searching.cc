// Positions in sorted sequences, and membership.
#include <algorithm>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/indexing/sorting.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/sorting.h"

namespace hlod {

using lazy::CompareOps;
using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;

namespace lazy {
namespace {

// Returns true where an element of the sequence comes before the value; with `right`, also where it is equal.
Op IsBefore(Lowering& l, Op element, Op value, bool right) {
  const Op less = l.b.Compare(element, value, right ? Order::kLe : Order::kLt);
  if (!hlo::IsFloat(l.type(value))) return less;
  const Op number =
      right ? l.Full(hlo::kPred, l.dims(element), true) : l.b.Compare(element, element, Order::kEq);
  return l.b.Binary(hlo::kOr, less, l.b.Binary(hlo::kAnd, NanOps(l, value), number));
}

}  // namespace

// A binary search whose steps are powers of two.
Op SearchOps(Lowering& l, Op sorted, Op values, bool right) {
  const Dims from = l.dims(sorted), shape = l.dims(values);
  if (from.empty()) Refuse("the sorted sequence must have a dimension");
  const int64_t size = from.back();
  const bool one = from.size() == 1;
  if (!one && (from.size() != shape.size() || !std::equal(from.begin(), from.end() - 1, shape.begin()))) {
    Refuse("the sequences of shape %s are not one for each row of values of shape %s", ListText(from),
           ListText(shape));
  }
  const auto last = static_cast<int64_t>(from.size()) - 1;
  const Op flat = one ? l.Reshape(values, {Count(shape)}) : values;
  const Dims dims = l.dims(flat);
  Op position = l.Full(hlo::kS64, dims, 0);
  int64_t step = 1;
  while (step * 2 <= size) step *= 2;
  for (; step > 0 && size > 0; step /= 2) {
    const Op next = position + l.Number(hlo::kS64, step);
    const Op inside = l.b.Compare(next, l.Number(hlo::kS64, size), Order::kLe);
    const Op at = l.b.Binary(hlo::kMinimum, next, l.Number(hlo::kS64, size)) - l.Number(hlo::kS64, 1);
    const Op element = GatherAlong(l, sorted, last, at);
    const Op go = l.b.Binary(hlo::kAnd, inside, IsBefore(l, element, flat, right));
    position = l.b.Select(go, next, position);
  }
  return l.Reshape(position, shape);
}

}  // namespace lazy

Tensor Searchsorted(const Operand& sorted, const Operand& values, bool right, const Tensor& sorter) {
  if (!sorter.defined()) {
    return lazy::Binary(lazy::ops::Searchsorted, sorted, values,
                        [&](Lowering& l, Op x, Op y) { return lazy::SearchOps(l, x, y, right); });
  }
  // `sorter` is an index, so it is not promoted.
  const Tensor ordered = lazy::Binary(lazy::ops::Gather, sorted, Operand(sorter, sorted.caller()),
                                      [](Lowering& l, Op x, Op order) {
                                        if (l.dims(x) != l.dims(order)) {
                                          Refuse("the sorter's shape %s is not the sequence's %s",
                                                 ListText(l.dims(order)), ListText(l.dims(x)));
                                        }
                                        if (lazy::Count(l.dims(x)) == 0) return x;
                                        return lazy::GatherAlong(l, x, lazy::RankOf(l, x) - 1, order);
                                      });
  return Searchsorted(Operand(ordered, sorted.caller()), values, right);
}

Tensor Bucketize(const Operand& values, const Operand& boundaries, bool right) {
  return lazy::Binary(lazy::ops::Bucketize, values, boundaries, [&](Lowering& l, Op x, Op edges) {
    if (l.dims(edges).size() != 1)
      Refuse("boundaries are a vector, not of shape %s", ListText(l.dims(edges)));
    return lazy::SearchOps(l, edges, x, right);
  });
}

Tensor Isin(const Operand& x, const Operand& among, bool invert) {
  return lazy::Binary(lazy::ops::Isin, x, among, [&](Lowering& l, Op x, Op among) {
    const Dims dims = l.dims(x);
    const int64_t size = lazy::Count(l.dims(among));
    if (size == 0) return l.Full(hlo::kPred, dims, invert);
    const Op operands[] = {lazy::Flat(l, among)};
    const Op sorted = lazy::SortOps(l, operands, 0, false)[0], flat = lazy::Flat(l, x);
    const Op position = lazy::SearchOps(l, sorted, flat, false);
    const Op at = l.b.Binary(hlo::kMinimum, position, l.Full(hlo::kS64, l.dims(flat), size - 1));
    const Op found =
        CompareOps(l, lazy::GatherAlong(l, sorted, 0, at), flat, invert ? Order::kNe : Order::kEq);
    return l.Reshape(found, dims);
  });
}

}  // namespace hlod
