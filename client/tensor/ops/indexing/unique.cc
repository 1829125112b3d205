// Unique values of a tensor's elements or of its slices, sorted (unique) or by runs (unique_consecutive).
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/indexing/sorting.h"
#include "client/tensor/ops/reduction/scan.h"
#include "client/tensor/ops/shape/dynamic.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/sorting.h"

namespace hlod {

using lazy::Combine;
using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;
using lazy::TensorOf;

namespace {

// Returns the rows to compare: the elements as a vector, or the slices of dimension `dim`, which is moved to
// the front.
Op Rows(Lowering& l, Op x, std::optional<int64_t> dim) {
  return dim.has_value() ? lazy::MovedDim(l, x, *dim, 0) : lazy::Flat(l, x);
}

// Returns the lexicographic, stable order of the rows: a stable sort by the last column, then by the one
// before, and so on.
Op SortedOrder(Lowering& l, Op rows) {
  const int64_t count = l.dims(rows)[0], columns = count == 0 ? 0 : lazy::Count(l.dims(rows)) / count;
  const Op matrix = l.Reshape(rows, {count, columns});
  Op order = lazy::IndexIota(l, {count}, 0);
  for (int64_t i = columns - 1; i >= 0; --i) {
    const Op column = l.Reshape(lazy::SliceDim(l, matrix, 1, i, i + 1), {count});
    const Op operands[] = {i == columns - 1 ? column : lazy::SelectSlices(l, column, 0, order), order};
    order = lazy::SortOps(l, operands, 0, false)[1];
  }
  return order;
}

// The sorted rows, their order, and for each the number of its run of equal rows.
struct Runs {
  Tensor rows, order, group;
  int64_t count = 0;
};

Runs RunsOf(const lazy::Operation& operation, const Operand& x, std::optional<int64_t> dim, bool sort) {
  const std::vector<Tensor> parts = lazy::CallSeveral(operation, {x}, [&](Lowering& l, Operands o) {
    Op rows = Rows(l, o[0], dim);
    const Dims dims = l.dims(rows);
    const int64_t count = dims[0];
    if (count == 0) {
      const Op none = l.Full(hlo::kS64, {0}, 0);
      return std::vector<Op>{rows, none, none};
    }
    if (lazy::Count(dims) == 0) Refuse("slices of shape %s have no elements to compare", ListText(dims));
    const Op order = sort ? SortedOrder(l, rows) : lazy::IndexIota(l, {count}, 0);
    if (sort) rows = lazy::SelectSlices(l, rows, 0, order);
    const Op differ = l.b.Compare(lazy::SliceDim(l, rows, 0, 1, count),
                                  lazy::SliceDim(l, rows, 0, 0, count - 1), Order::kNe);
    Dims columns;
    for (int64_t i = 1; i < static_cast<int64_t>(dims.size()); ++i) columns.push_back(i);
    const Op begins = l.Convert(l.Reduce(hlo::kOr, differ, columns), hlo::kS64);
    const Op steps = lazy::PadDim(l, begins, l.Number(hlo::kS64, 0), 0, {1, 0, 0});
    return std::vector<Op>{rows, order, lazy::Prefixes(l, steps, 0, hlo::kAdd)};
  });
  return {parts[0], parts[1], parts[2], parts[1].dims()[0]};
}

// Returns the rows of the first `limit` groups, the group of each element, the size of each group, and the
// number of groups.
std::vector<Tensor> Grouped(const lazy::Operation& operation, const Runs& runs, const Operand& x,
                            std::optional<int64_t> dim, int64_t limit) {
  const std::vector<Operand> operands = {Operand(runs.rows, x.caller()), Operand(runs.order, x.caller()),
                                         Operand(runs.group, x.caller())};
  return lazy::CallSeveral(operation, operands, [&](Lowering& l, Operands o) -> std::vector<Op> {
    Dims dims = l.dims(o[0]);
    const int64_t count = dims[0];
    dims[0] = limit;
    Op values = lazy::ScatterSlices(l, l.Full(l.type(o[0]), dims, 0), 0, o[2], o[0], Combine::kSet);
    if (dim.has_value()) values = lazy::MovedDim(l, values, 0, *dim);
    const Op inverse = lazy::ScatterAlong(l, l.Full(hlo::kS64, {count}, 0), 0, o[1], o[2], Combine::kSet);
    const Op counts = lazy::ScatterAlong(l, l.Full(hlo::kS64, {limit}, 0), 0, o[2],
                                         l.Full(hlo::kS64, {count}, 1), Combine::kAdd);
    const Op groups =
        count == 0 ? l.Number(hlo::kS64, 0)
                   : l.Reshape(lazy::SliceDim(l, o[2], 0, count - 1, count), {}) + l.Number(hlo::kS64, 1);
    return {values, dim.has_value() ? inverse : l.Reshape(inverse, x.tensor()->dims()), counts, groups};
  });
}

std::optional<int64_t> Wrapped(const lazy::Operation& operation, const Operand& x,
                               std::optional<int64_t> dim) {
  const int64_t rank = TensorOf(operation, x).rank();
  lazy::Explain(operation, {&x, 1}, x.caller(), [&] {
    if (dim.has_value() && rank == 0) Refuse("a scalar has no slices");
    if (dim.has_value()) dim = lazy::WrapDim(*dim, rank);
  });
  return dim;
}

UniqueResult Distinct(const lazy::Operation& operation, const Operand& x, std::optional<int64_t> dim,
                      bool sort) {
  dim = Wrapped(operation, x, dim);
  const Runs runs = RunsOf(operation, x, dim, sort);
  int64_t groups = 0;
  if (runs.count > 0) {
    groups =
        1 + lazy::ReadSizes(operation, runs.group.Slice(0, runs.count - 1, {}, 1, x.caller()), x.caller())[0];
  }
  const std::vector<Tensor> results = Grouped(operation, runs, x, dim, groups);
  return {results[0], results[1], results[2]};
}

}  // namespace

UniqueResult Unique(const Operand& x, std::optional<int64_t> dim) {
  return Distinct(lazy::ops::Unique, x, dim, true);
}
UniqueResult UniqueConsecutive(const Operand& x, std::optional<int64_t> dim) {
  return Distinct(lazy::ops::UniqueConsecutive, x, dim, false);
}

BoundedUniqueResult UniqueBounded(const Operand& x, int64_t limit) {
  lazy::Explain(lazy::ops::Unique, {&x, 1}, x.caller(), [&] {
    if (limit < 0) Refuse("the limit (%d) is negative", limit);
  });
  const Runs runs = RunsOf(lazy::ops::Unique, x, {}, true);
  std::vector<Tensor> results = Grouped(lazy::ops::Unique, runs, x, {}, limit);
  return {results[0], results[1], results[2], results[3]};
}

}  // namespace hlod
