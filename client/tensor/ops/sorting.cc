// Sorting, and positions in sorted sequences.
#include "client/tensor/ops/sorting.h"

#include "client/tensor/apply.h"
#include "client/tensor/close.h"
#include "client/tensor/ops/movement.h"
#include "hlod/ops/sorting.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;
using lazy::WrapDim;
using Comparison = hlo::ComparisonDirection;

namespace lazy {

std::vector<Op> SortOps(Lowering& l, absl::Span<const Op> operands, int64_t dim, bool descending) {
  std::vector<PrimitiveType> types;
  for (const Op operand : operands) types.push_back(l.type(operand));
  if (hlo::IsComplex(types[0])) Refuse("complex numbers have no order");
  const hlo::ComputationId comparator = Tracer::Get().Callee("before", [&](hlo::Builder& b) {
    Op x, y;
    for (size_t i = 0; i < types.size(); ++i) {
      const Op first = b.Parameter(static_cast<int64_t>(2 * i), Shape::Scalar(types[i]));
      const Op second = b.Parameter(static_cast<int64_t>(2 * i + 1), Shape::Scalar(types[i]));
      if (i == 0) x = descending ? second : first, y = descending ? first : second;
    }
    const Op less = b.Compare(x, y, Comparison::kLt);
    if (!hlo::IsFloat(types[0])) return less;
    const Op number = b.Compare(x, x, Comparison::kEq), nan = b.Compare(y, y, Comparison::kNe);
    return b.Binary(hlo::kOr, less, b.Binary(hlo::kAnd, number, nan));
  });
  const Op sorted = l.b.Add(hlo::kSort, operands, hlo::SortAttributes{dim, true}, {comparator});
  if (operands.size() == 1) return {sorted};
  std::vector<Op> results;
  for (size_t i = 0; i < operands.size(); ++i) {
    results.push_back(l.b.GetTupleElement(sorted, static_cast<int64_t>(i)));
  }
  return results;
}

}  // namespace lazy

namespace {

std::vector<Op> Sorted(Lowering& l, Op x, int64_t dim, bool descending) {
  if (l.dims(x).empty()) return {x, l.Number(hlo::kS64, 0)};
  const Op operands[] = {x, lazy::IndexIota(l, l.dims(x), dim)};
  return lazy::SortOps(l, operands, dim, descending);
}

ValuesAndIndices Pair(std::vector<Tensor> results) { return {std::move(results[0]), std::move(results[1])}; }

// How many elements of the last dimension of `sorted` come before each value: a binary search whose steps are
// powers of two. A comparison with NaN is false, so that NaN comes last.
Op Search(Lowering& l, Op sorted, Op values, bool right, PrimitiveType common) {
  sorted = l.Convert(sorted, common);
  values = l.Convert(values, common);
  const Dims from = l.dims(sorted), shape = l.dims(values);
  if (from.empty()) Refuse("the sorted sequence must have a dimension");
  const int64_t size = from.back();
  const bool one = from.size() == 1;
  if (!one && (from.size() != shape.size() || !std::equal(from.begin(), from.end() - 1, shape.begin()))) {
    Refuse("the sequences of shape %s are not one for each row of values of shape %s", ListText(from),
           ListText(shape));
  }
  const auto last = static_cast<int64_t>(from.size()) - 1;
  const Op flat = one ? l.Reshape(values, {lazy::Count(shape)}) : values;
  const Dims dims = l.dims(flat);
  Op position = l.Full(hlo::kS64, dims, 0);
  int64_t step = 1;
  while (step * 2 <= size) step *= 2;
  for (; step > 0 && size > 0; step /= 2) {
    const Op next = position + l.Number(hlo::kS64, step);
    const Op inside = l.b.Compare(next, l.Number(hlo::kS64, size), Comparison::kLe);
    const Op at = l.b.Binary(hlo::kMinimum, next, l.Number(hlo::kS64, size)) - l.Number(hlo::kS64, 1);
    const Op element = lazy::GatherAlong(l, sorted, last, at);
    const Op not_before = l.b.Compare(element, flat, right ? Comparison::kGt : Comparison::kGe);
    const Op go = l.b.Binary(hlo::kAnd, inside, l.b.Unary(hlo::kNot, not_before));
    position = l.b.Select(go, next, position);
  }
  return l.Reshape(position, shape);
}

}  // namespace

ValuesAndIndices Sort(const Operand& x, int64_t dim, bool descending) {
  return Pair(lazy::CallSeveral(lazy::ops::Sort, {x}, [&](Lowering& l, Operands o) {
    return Sorted(l, o[0], WrapDim(dim, static_cast<int64_t>(l.dims(o[0]).size())), descending);
  }));
}
Tensor Argsort(const Operand& x, int64_t dim, bool descending) { return Sort(x, dim, descending).indices; }
Tensor Msort(const Operand& x) { return Sort(x, 0).values; }

ValuesAndIndices Topk(const Operand& x, int64_t k, int64_t dim, bool largest) {
  return Pair(lazy::CallSeveral(lazy::ops::Topk, {x}, [&](Lowering& l, Operands o) {
    const int64_t at = WrapDim(dim, static_cast<int64_t>(l.dims(o[0]).size()));
    const int64_t size = l.dims(o[0]).empty() ? 1 : l.dims(o[0])[at];
    if (k < 0 || k > size) Refuse("k (%d) is not within the %d elements of dimension %d", k, size, dim);
    std::vector<Op> sorted = Sorted(l, o[0], at, largest);
    if (l.dims(o[0]).empty()) return sorted;
    for (Op& op : sorted) op = lazy::SliceDim(l, op, at, 0, k);
    return sorted;
  }));
}

ValuesAndIndices Kthvalue(const Operand& x, int64_t k, int64_t dim, bool keepdim) {
  return Pair(lazy::CallSeveral(lazy::ops::Kthvalue, {x}, [&](Lowering& l, Operands o) {
    const int64_t at = WrapDim(dim, static_cast<int64_t>(l.dims(o[0]).size()));
    Dims dims = l.dims(o[0]);
    const int64_t size = dims.empty() ? 1 : dims[at];
    if (k < 1 || k > size) Refuse("k (%d) is not within the %d elements of dimension %d", k, size, dim);
    std::vector<Op> sorted = Sorted(l, o[0], at, false);
    if (dims.empty()) return sorted;
    if (keepdim) dims[at] = 1;
    else dims.erase(dims.begin() + at);
    for (Op& op : sorted) op = l.Reshape(lazy::SliceDim(l, op, at, k - 1, k), dims);
    return sorted;
  }));
}

Tensor Searchsorted(const Operand& sorted, const Operand& values, bool right) {
  return lazy::Call(lazy::ops::Searchsorted, {sorted, values},
                    [&](Lowering& l, Operands o) { return Search(l, o[0], o[1], right, l.type(o[0])); });
}
Tensor Bucketize(const Operand& values, const Operand& boundaries, bool right) {
  return lazy::Call(lazy::ops::Bucketize, {values, boundaries}, [&](Lowering& l, Operands o) {
    if (l.dims(o[1]).size() != 1) Refuse("boundaries are a vector, not of shape %s", ListText(l.dims(o[1])));
    return Search(l, o[1], o[0], right, l.type(o[1]));
  });
}

UniqueResult Unique(const Operand& x) {
  const Tensor& tensor = lazy::TensorOf(lazy::ops::Unique, x);
  const Caller& caller = x.caller();
  const Dims dims = tensor.dims();
  // Sorted values, where they came from, and the number of distinct values up to each.
  const std::vector<Tensor> parts = lazy::CallSeveral(lazy::ops::Unique, {x}, [](Lowering& l, Operands o) {
    const int64_t count = lazy::Count(l.dims(o[0]));
    std::vector<Op> sorted = Sorted(l, l.Reshape(o[0], {count}), 0, false);
    if (count == 0) {
      sorted.push_back(l.Full(hlo::kS64, {0}, 0));
      return sorted;
    }
    const Op changes = l.b.Compare(lazy::SliceDim(l, sorted[0], 0, 1, count),
                                   lazy::SliceDim(l, sorted[0], 0, 0, count - 1), Comparison::kNe);
    // The sum of what came before: a window over all of it.
    const Op step = lazy::PadDim(l, l.Convert(changes, hlo::kS64), l.Number(hlo::kS64, 0), 0, {1, 0, 0});
    hlo::WindowDimension window;
    window.size = count;
    window.padding_low = count - 1;
    sorted.push_back(
        l.b.ReduceWindow(step, l.Number(hlo::kS64, 0), {window}, l.Reducer(hlo::kAdd, hlo::kS64)));
    return sorted;
  });
  int64_t distinct = 0;
  if (tensor.numel() > 0) {
    const Tensor last = parts[2].Select(0, -1, caller);
    distinct = 1 + lazy::Read(lazy::ShownValue(*last.impl(), "unique", caller), TraceCause::kDynamicShape,
                              Cause::kScalarRead, "unique", caller)
                       ->data<int64_t>()[0];
  }
  const std::vector<Tensor> results = lazy::CallSeveral(
      lazy::ops::Unique, lazy::OperandsOf(parts, caller), [&](Lowering& l, Operands o) -> std::vector<Op> {
        const int64_t count = lazy::Count(dims);
        using lazy::Combine;
        return {lazy::ScatterAlong(l, l.Full(l.type(o[0]), {distinct}, 0), 0, o[2], o[0], Combine::kSet),
                l.Reshape(lazy::ScatterAlong(l, l.Full(hlo::kS64, {count}, 0), 0, o[1], o[2], Combine::kSet),
                          dims),
                lazy::ScatterAlong(l, l.Full(hlo::kS64, {distinct}, 0), 0, o[2],
                                   l.Full(hlo::kS64, {count}, 1), Combine::kAdd)};
      });
  return {results[0], results[1], results[2]};
}

}  // namespace hlod
