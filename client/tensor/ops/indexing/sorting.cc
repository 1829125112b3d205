// Sorting, the first k elements (topk), and the k-th element.
#include "client/tensor/ops/indexing/sorting.h"

#include <limits>
#include <optional>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/function/function.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/growing.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/value/numbers.h"
#include "hlod/ops/sorting.h"

namespace hlod {

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
  const hlo::ComputationId comparator = TraceTables::Get().Callee("before", [&](hlo::Builder& b) {
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

namespace {

// Returns keys whose descending total order is topk's order; nullopt if x's type has none.
std::optional<Op> TopkKeys(Lowering& l, Op x, bool largest) {
  if (hlo::IsInteger(l.type(x))) return largest ? x : l.b.Unary(hlo::kNot, x);
  if (!hlo::IsFloat(l.type(x))) return std::nullopt;
  // NaN is above all numbers for either sign bit; adding 0 turns -0 into 0, which equals it.
  const Op nan = l.Full(l.type(x), l.dims(x), kNan);
  const Op keys = l.b.Select(NanOps(l, x), nan, x + l.Full(l.type(x), l.dims(x), 0));
  return largest ? keys : l.b.Unary(hlo::kNegate, keys);
}

// Returns the size to which x is padded before its elements are ordered. Floats of less than 16 bits are not
// padded: some have no infinity, or no NaN of either sign, that would come behind all elements.
int64_t PaddedForOrder(Lowering& l, Op x, int64_t dim) {
  const PrimitiveType type = l.type(x);
  const bool narrow = hlo::IsFloat(type) && hlo::Info(type).bits < 16;
  return narrow ? l.dims(x)[dim] : PaddedSize(l, x, dim);
}

// Returns a key that no other comes behind: padding with it is found after the elements, for among equal keys
// the first are found.
Op LeastKey(Lowering& l, PrimitiveType type) {
  if (hlo::IsFloat(type)) return l.b.Unary(hlo::kNegate, l.Number(type, kNan));
  return l.b.Constant(NeutralLiteral(hlo::kMaximum, type));
}

// Returns the first k by HLO's topk; empty when topk cannot be used.
std::vector<Op> FirstByTopk(Lowering& l, Op x, int64_t k, int64_t dim, bool descending) {
  if (l.dims(x)[dim] > std::numeric_limits<int32_t>::max()) return {};
  const std::optional<Op> keys = TopkKeys(l, StopGradient(l, x), descending);
  if (!keys) return {};
  const int64_t last = RankOf(l, x) - 1, padded = PaddedForOrder(l, x, dim);
  const Op all = PaddedTo(l, *keys, dim, padded, LeastKey(l, l.type(*keys)));
  const Op found = l.b.Add(hlo::kTopK, {MovedDim(l, all, dim, last)}, hlo::TopKAttributes{k, true});
  const Op index = MovedDim(l, l.Convert(l.b.GetTupleElement(found, 1), hlo::kS64), last, dim);
  return {GatherAlong(l, PaddedTo(l, x, dim, padded, l.Number(l.type(x), 0)), dim, index), index};
}

// Returns a value that no other comes behind.
Op LastInOrder(Lowering& l, PrimitiveType type, bool descending) {
  const bool nan = hlo::IsFloat(type) && !descending;
  return nan ? l.Number(type, kNan)
             : l.b.Constant(NeutralLiteral(descending ? hlo::kMaximum : hlo::kMinimum, type));
}

}  // namespace

std::vector<Op> SortedWithIndex(Lowering& l, Op x, int64_t dim, bool descending) {
  if (l.dims(x).empty()) return {x, l.Number(hlo::kS64, 0)};
  // On the host, the evaluator calls a comparator once per pair; topk, which compares numbers directly, is
  // faster.
  if (l.graph.kind == Trace::Kind::kHost) {
    std::vector<Op> sorted = FirstByTopk(l, x, l.dims(x)[dim], dim, descending);
    if (!sorted.empty()) return sorted;
  }
  const int64_t size = l.dims(x)[dim];
  const Op all = PaddedTo(l, x, dim, PaddedForOrder(l, x, dim), LastInOrder(l, l.type(x), descending));
  const Op operands[] = {all, IndexIota(l, l.dims(all), dim)};
  std::vector<Op> sorted = SortOps(l, operands, dim, descending);
  for (Op& op : sorted) op = SliceDim(l, op, dim, 0, size);
  return sorted;
}

std::vector<Op> FirstWithIndex(Lowering& l, Op x, int64_t k, int64_t dim, bool descending) {
  std::vector<Op> first = FirstByTopk(l, x, k, dim, descending);
  if (!first.empty()) return first;
  first = SortedWithIndex(l, x, dim, descending);
  for (Op& op : first) op = SliceDim(l, op, dim, 0, k);
  return first;
}

}  // namespace lazy

namespace {

ValuesAndIndices Pair(std::vector<Tensor> results) { return {std::move(results[0]), std::move(results[1])}; }

}  // namespace

ValuesAndIndices Sort(const Operand& x, int64_t dim, bool descending) {
  return Pair(lazy::CallSeveral(lazy::ops::Sort, {x}, [&](Lowering& l, Operands o) {
    return lazy::SortedWithIndex(l, o[0], WrapDim(dim, static_cast<int64_t>(l.dims(o[0]).size())),
                                 descending);
  }));
}
Tensor Argsort(const Operand& x, int64_t dim, bool descending) { return Sort(x, dim, descending).indices; }
Tensor Msort(const Operand& x) { return Sort(x, 0).values; }

ValuesAndIndices Topk(const Operand& x, int64_t k, int64_t dim, bool largest) {
  return Pair(lazy::CallSeveral(lazy::ops::Topk, {x}, [&](Lowering& l, Operands o) {
    const int64_t at = WrapDim(dim, static_cast<int64_t>(l.dims(o[0]).size()));
    const int64_t size = l.dims(o[0]).empty() ? 1 : l.dims(o[0])[at];
    if (k < 0 || k > size) Refuse("k (%d) is not within the %d elements of dimension %d", k, size, dim);
    if (hlo::IsComplex(l.type(o[0]))) Refuse("complex numbers have no order");
    if (l.dims(o[0]).empty()) return lazy::SortedWithIndex(l, o[0], at, largest);
    return lazy::FirstWithIndex(l, o[0], k, at, largest);
  }));
}

ValuesAndIndices Kthvalue(const Operand& x, int64_t k, int64_t dim, bool keepdim) {
  return Pair(lazy::CallSeveral(lazy::ops::Kthvalue, {x}, [&](Lowering& l, Operands o) {
    const int64_t at = WrapDim(dim, static_cast<int64_t>(l.dims(o[0]).size()));
    Dims dims = l.dims(o[0]);
    const int64_t size = dims.empty() ? 1 : dims[at];
    if (k < 1 || k > size) Refuse("k (%d) is not within the %d elements of dimension %d", k, size, dim);
    std::vector<Op> sorted = lazy::SortedWithIndex(l, o[0], at, false);
    if (dims.empty()) return sorted;
    if (keepdim) dims[at] = 1;
    else dims.erase(dims.begin() + at);
    for (Op& op : sorted) op = l.Reshape(lazy::SliceDim(l, op, at, k - 1, k), dims);
    return sorted;
  }));
}

}  // namespace hlod
