// Scaled dot product attention.
#include "hlod/ops/nn/attention.h"

#include <cmath>
#include <limits>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/nn/dropout.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/ops/shape/stop.h"

namespace hlod {
namespace {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;

// Returns the softmax over the last dimension. A row of minus infinities becomes zeros.
Op Weights(Lowering& l, Op scores) {
  const Dims dims = l.dims(scores);
  const int64_t last = lazy::RankOf(l, scores) - 1;
  const PrimitiveType type = l.type(scores);
  Dims rows;
  for (int64_t i = 0; i < last; ++i) rows.push_back(i);
  const Op largest = lazy::WithoutGradient(l, l.Reduce(hlo::kMaximum, scores, {last}), scores);
  const double infinity = std::numeric_limits<double>::infinity();
  const Op nothing = l.b.Compare(largest, l.Number(type, -infinity), hlo::ComparisonDirection::kEq);
  const Op shift = l.b.Select(nothing, l.Full(type, l.dims(largest), 0), largest);
  const Op powers = l.b.Unary(hlo::kExponential, scores - l.b.Broadcast(shift, dims, rows));
  const Op sum = l.Reduce(hlo::kAdd, powers, {last});
  const Op divisor = l.b.Select(nothing, l.Full(type, l.dims(sum), 1), sum);
  return powers / l.b.Broadcast(divisor, dims, rows);
}

Op AttentionOps(Lowering& l, Operands o, const AttentionOptions& options) {
  const double infinity = std::numeric_limits<double>::infinity();
  Dims batch;
  for (size_t i = 0; i < 3; ++i) {
    const Dims& dims = l.dims(o[i]);
    if (dims.size() < 2) Refuse("argument %d of shape %s is not a batch of matrices", i, ListText(dims));
    batch = lazy::BroadcastDims(batch, Dims(dims.begin(), dims.end() - 2));
  }
  const Op q = lazy::InBatch(l, o[0], batch), k = lazy::InBatch(l, o[1], batch),
           v = lazy::InBatch(l, o[2], batch);
  const auto rank = static_cast<int64_t>(batch.size()) + 2;
  const int64_t queries = l.dims(q)[rank - 2], keys = l.dims(k)[rank - 2], width = l.dims(q)[rank - 1];
  if (l.dims(k)[rank - 1] != width || l.dims(v)[rank - 2] != keys) {
    Refuse("queries %s, keys %s and values %s do not fit", ListText(l.dims(o[0])), ListText(l.dims(o[1])),
           ListText(l.dims(o[2])));
  }
  const PrimitiveType type = l.type(q), wide = hlo::Info(type).bits < 32 ? hlo::kF32 : type;
  hlo::DotAttributes dot;
  for (int64_t i = 0; i < rank - 2; ++i) {
    dot.lhs_batch.push_back(i);
    dot.rhs_batch.push_back(i);
  }
  dot.lhs_contracting = dot.rhs_contracting = {rank - 1};
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(width)));
  Op scores = l.Convert(l.b.Dot(q, k, dot), wide) * l.Setting(wide, scale, "scale");
  Dims shape = batch;
  shape.insert(shape.end(), {queries, keys});
  if (options.is_causal) {
    if (o.size() == 4) Refuse("a mask and is_causal exclude each other");
    const Dims plane = {queries, keys};
    const Op seen = l.b.Compare(lazy::IndexIota(l, plane, 0), lazy::IndexIota(l, plane, 1),
                                hlo::ComparisonDirection::kGe);
    scores = l.b.Select(l.BroadcastTo(seen, shape), scores, l.Full(wide, shape, -infinity));
  }
  if (o.size() == 4) {
    // Promotion has converted a mask of type pred to 0 and 1.
    const Op mask = l.BroadcastTo(o[3], shape);
    scores = options.mask.dtype() == kPred
                 ? l.b.Select(l.Convert(mask, hlo::kPred), scores, l.Full(wide, shape, -infinity))
                 : scores + l.Convert(mask, wide);
  }
  dot.lhs_contracting = {rank - 1};
  dot.rhs_contracting = {rank - 2};
  return l.b.Dot(lazy::DropoutOps(l, l.Convert(Weights(l, scores), type), options.dropout), v, dot);
}

}  // namespace

Tensor ScaledDotProductAttention(const Operand& query, const Operand& key, const Operand& value,
                                 const AttentionOptions& options) {
  const auto lower = [&](Lowering& l, Operands o) { return AttentionOps(l, o, options); };
  std::vector<Operand> operands = {query, key, value};
  const lazy::Operation& operation = lazy::ops::ScaledDotProductAttention;
  if (options.mask.defined()) operands.emplace_back(options.mask, query.caller());
  return lazy::Call(operation, operands, lower);
}

}  // namespace hlod
