// Embedding: rows of a table, and bags of rows.
#include "hlod/ops/nn/embedding.h"

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/function/function.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/known.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/reduction.h"
#include "hlod/ops/sorting.h"
#include "hlod/tensor/autograd.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::N;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;

namespace {

void RequireTable(Lowering& l, Op table) {
  if (lazy::RankOf(l, table) != 2)
    Refuse("the table must be a matrix, not of shape %s", ListText(l.dims(table)));
}

// Scales the rows that `indices` name, in place, to at most the norm `norm.max`.
void Shorten(const lazy::Operation& operation, const Operand& indices, const Operand& weight,
             const MaxNorm& norm) {
  const NoGrad scope;  // The update is not differentiated.
  Tensor table = lazy::TensorOf(operation, weight);
  const Dims last = {1};
  const Tensor norms = VectorNorm(weight, norm.p, last, true);
  const Operand operands[] = {Operand(table, weight.caller()), indices, Operand(norms, weight.caller())};
  lazy::CallInPlace(operation, table, operands, [&](Lowering& l, Operands o) {
    RequireTable(l, o[0]);
    lazy::CheckIndices(l, o[1], 0, l.dims(o[0])[0]);
    const Dims rows = {l.dims(o[0])[0], 1};
    const Op flat = lazy::Flat(l, o[1]);
    const Op named = lazy::ScatterSlices(l, l.Full(hlo::kPred, {rows[0]}, false), 0, flat,
                                         l.Full(hlo::kPred, l.dims(flat), true), lazy::Combine::kAdd);
    const Op wide = l.Convert(o[2], lazy::WideType(l.type(o[2])));
    const Op max = l.Setting(l.type(wide), norm.max, "max");
    const Op longer =
        l.b.Binary(hlo::kAnd, l.Reshape(named, rows), lazy::CompareOps(l, wide, max, Order::kGt));
    const Op factor = lazy::SelectOps(l, longer, max / (wide + N(l, wide, 1e-7)), N(l, wide, 1));
    return lazy::MulOps(l, o[0], l.Convert(factor, l.type(o[0])));
  });
}

// Returns the table's row for a padding index; a negative index counts from the end. Refuses an index out of
// range.
int64_t PaddingRow(Lowering& l, Op table, int64_t index) {
  const int64_t rows = l.dims(table)[0];
  if (index < -rows || index >= rows)
    Refuse("padding_index (%d) is out of range for a table of %d rows", index, rows);
  return index < 0 ? index + rows : index;
}

// Returns `rows` unchanged; their gradient is divided by the number of times that `indices` name each row.
Op ScaledByFrequency(Lowering& l, Op rows, Op indices, int64_t table_rows) {
  const Op flat = lazy::Flat(l, indices);
  const Op counts = lazy::ScatterSlices(l, l.Full(hlo::kS64, {table_rows}, 0), 0, flat,
                                        l.Full(hlo::kS64, l.dims(flat), 1), lazy::Combine::kAdd);
  const Op count = l.Convert(lazy::SelectSlices(l, counts, 0, indices), l.type(rows));
  Dims mapping;
  for (int64_t i = 0; i < lazy::RankOf(l, count); ++i) mapping.push_back(i);
  const Op factor = l.b.Broadcast(N(l, count, 1) / count, l.dims(rows), mapping);
  return lazy::OwnDerivative(l, "scaled", {rows, factor}, [](Operands o) { return o[0]; });
}

// The rows of each bag, [..., columns of the table], and a mask of the rows that are not padding.
struct Rows {
  Op values, counted;
};
Rows RowsOf(Lowering& l, Op table, Op indices, Op weights, const EmbeddingBagOptions& options) {
  Rows rows;
  rows.values = lazy::SelectSlices(l, table, 0, indices);
  const Dims dims = l.dims(indices);
  rows.counted = l.Full(hlo::kPred, dims, true);
  if (options.padding_index.has_value()) {
    const int64_t at = PaddingRow(l, table, *options.padding_index);
    rows.counted = lazy::CompareOps(l, indices, N(l, indices, at), Order::kNe);
  }
  if (options.per_sample_weights.defined()) {
    if (options.mode != BagMode::kSum) Refuse("weights of samples are for sums only");
    if (l.dims(weights) != dims || l.type(weights) != l.type(table)) {
      Refuse("weights of samples must have the indices' shape %s and the table's type %s", ListText(dims),
             hlo::Name(l.type(table)));
    }
    rows.values = lazy::MulOps(l, rows.values, lazy::KeptLast(l, weights));
  }
  return rows;
}

// Returns the neutral element from which a bag is accumulated; it replaces padding rows.
Op StartOf(Lowering& l, PrimitiveType type, BagMode mode) {
  return l.b.Constant(lazy::NeutralLiteral(mode == BagMode::kMax ? hlo::kMaximum : hlo::kAdd, type));
}

// Completes `joined` [bags, size], accumulated from `counts` [bags] rows per bag: divides for a mean, and
// sets the maximum of an empty bag to 0.
Op Finished(Lowering& l, Op joined, Op counts, BagMode mode) {
  const PrimitiveType type = l.type(joined);
  const Op column = lazy::KeptLast(l, counts);
  if (mode == BagMode::kSum) return joined;
  if (mode == BagMode::kMax) {
    return lazy::SelectOps(l, lazy::CompareOps(l, column, 0, Order::kEq), l.Number(type, 0), joined);
  }
  const Op divisor = l.b.Binary(hlo::kMaximum, column, N(l, column, 1));
  return lazy::DivOps(l, joined, l.Convert(divisor, type));
}

// Bags as the rows of a matrix of indices.
Op MatrixBags(Lowering& l, Op indices, Op table, Op weights, const EmbeddingBagOptions& options) {
  const PrimitiveType type = l.type(table);
  const Rows rows = RowsOf(l, table, indices, weights, options);
  const Op values =
      lazy::SelectOps(l, lazy::KeptLast(l, rows.counted), rows.values, StartOf(l, type, options.mode));
  const hlo::Opcode opcode = options.mode == BagMode::kMax ? hlo::kMaximum : hlo::kAdd;
  const Op joined = lazy::InWide(l, values, [&](Lowering& l, Op x) { return l.Reduce(opcode, x, {1}); });
  return Finished(l, joined, l.Reduce(hlo::kAdd, l.Convert(rows.counted, hlo::kS64), {1}), options.mode);
}

// Bags as consecutive parts of a vector of indices; `bag` holds the number of the bag that each index belongs
// to.
Op VectorBags(Lowering& l, Op indices, Op table, Op bag, int64_t bags, Op weights,
              const EmbeddingBagOptions& options) {
  const PrimitiveType type = l.type(table), wide = lazy::WideType(type);
  const Rows rows = RowsOf(l, table, indices, weights, options);
  // Padding rows get an out-of-range target, which the scatter ignores.
  const Op target = lazy::SelectOps(l, rows.counted, bag, l.Number(hlo::kS64, bags));
  const Op start = l.BroadcastTo(StartOf(l, wide, options.mode), {bags, l.dims(table)[1]});
  const Op joined =
      lazy::ScatterSlices(l, start, 0, target, l.Convert(rows.values, wide),
                          options.mode == BagMode::kMax ? lazy::Combine::kMaximum : lazy::Combine::kAdd);
  const Op counts = lazy::ScatterSlices(l, l.Full(hlo::kS64, {bags}, 0), 0, target,
                                        l.Full(hlo::kS64, l.dims(indices), 1), lazy::Combine::kAdd);
  return Finished(l, l.Convert(joined, type), counts, options.mode);
}

}  // namespace

Tensor Embedding(const Operand& indices, const Operand& weight, const EmbeddingOptions& options) {
  if (options.max_norm.has_value()) Shorten(lazy::ops::Embedding, indices, weight, *options.max_norm);
  return lazy::Call(lazy::ops::Embedding, {indices, weight}, [&](Lowering& l, Operands o) {
    RequireTable(l, o[1]);
    const int64_t count = l.dims(o[1])[0];
    lazy::CheckIndices(l, o[0], 0, count);
    Op rows = lazy::SelectSlices(l, o[1], 0, o[0]);
    if (options.padding_index.has_value()) {
      const int64_t padding = PaddingRow(l, o[1], *options.padding_index);
      const Op is_padding = lazy::CompareOps(l, o[0], N(l, o[0], padding), Order::kEq);
      rows = lazy::SelectOps(l, lazy::KeptLast(l, is_padding), lazy::StopGradient(l, rows), rows);
    }
    return options.scale_grad_by_freq ? ScaledByFrequency(l, rows, o[0], count) : rows;
  });
}

Tensor EmbeddingBag(const Operand& indices, const Operand& weight, const EmbeddingBagOptions& options) {
  const CallerScope scope(indices.caller());
  const lazy::Operation& operation = lazy::ops::EmbeddingBag;
  const Tensor& index = lazy::TensorOf(operation, indices);
  const bool matrix = index.rank() == 2;
  lazy::Explain(operation, std::vector<Operand>{indices, weight}, indices.caller(), [&] {
    if (index.rank() != 1 && !matrix)
      Refuse("indices are a vector or a matrix, not of shape %s", ListText(index.dims()));
    if (matrix == options.offsets.defined())
      Refuse("offsets are needed for a vector of indices, and for no matrix");
    if (!matrix && options.offsets.rank() != 1)
      Refuse("offsets are a vector, not of shape %s", ListText(options.offsets.dims()));
  });
  if (options.max_norm.has_value()) Shorten(operation, indices, weight, *options.max_norm);
  std::vector<Operand> operands = {indices, weight};
  int64_t bags = 0;
  Tensor bag;
  if (!matrix) {
    Tensor starts = options.offsets;
    if (options.include_last_offset) starts = starts.Narrow(0, 0, starts.size(0) - 1, indices.caller());
    bags = starts.size(0);
    // An index belongs to the last bag that begins at or before it.
    const Tensor positions =
        lazy::Unary(operation, indices, [](Lowering& l, Op x) { return lazy::IndexIota(l, l.dims(x), 0); });
    bag = Searchsorted(starts, positions, true);
    operands.emplace_back(bag, indices.caller());
  }
  if (options.per_sample_weights.defined())
    operands.emplace_back(options.per_sample_weights, indices.caller());
  return lazy::Call(operation, operands, [&](Lowering& l, Operands o) {
    RequireTable(l, o[1]);
    lazy::CheckIndices(l, o[0], 0, l.dims(o[1])[0]);
    if (matrix) return MatrixBags(l, o[0], o[1], o.back(), options);
    return VectorBags(l, o[0], o[1], o[2] - l.Number(hlo::kS64, 1), bags, o.back(), options);
  });
}

}  // namespace hlod
