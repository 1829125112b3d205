// Reductions of the segments of a first dimension.
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/indexing/sorting.h"
#include "client/tensor/ops/reduction/scan.h"
#include "client/tensor/ops/shape/known.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/value/numbers.h"
#include "client/tensor/value/throw.h"
#include "hlod/ops/indexing.h"

namespace hlod {
namespace {

using lazy::Combine;
using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;

struct How {
  Combine combine;
  double neutral;
};
How HowTo(ScatterReduction reduction) {
  switch (reduction) {
    case ScatterReduction::kProd: return {Combine::kMultiply, 1};
    case ScatterReduction::kAmax: return {Combine::kMaximum, -lazy::kInfinity};
    case ScatterReduction::kAmin: return {Combine::kMinimum, lazy::kInfinity};
    default: return {Combine::kAdd, 0};
  }
}

// Refuses lengths whose values are known and do not add up to the number of rows.
void CheckLengths(Lowering& l, Op lengths, int64_t rows) {
  const std::shared_ptr<const Literal> known = lazy::KnownValue(l, lengths);
  if (known == nullptr || known->shape().type != hlo::kS64) return;
  int64_t sum = 0;
  for (const int64_t length : known->data<int64_t>()) {
    if (length < 0) Refuse("a length (%d) is negative", length);
    if (__builtin_add_overflow(sum, length, &sum)) Refuse("the lengths are too large");
  }
  if (sum != rows) Refuse("lengths of %d in all are not those of %d rows", sum, rows);
}

Op SegmentOps(Lowering& l, Op x, Op bounds, ScatterReduction reduction, const SegmentOptions& options) {
  const Dims dims = l.dims(x);
  const bool by_length = options.lengths.defined();
  if (dims.empty()) Refuse("a number has no segments");
  if (!hlo::IsFloat(l.type(x))) Refuse("elements are of a floating type, not %s", hlo::Name(l.type(x)));
  lazy::RequireIndex(l, bounds);
  if (l.dims(bounds).size() != 1)
    Refuse("lengths or offsets are a vector, not of shape %s", ListText(l.dims(bounds)));
  if (by_length) CheckLengths(l, bounds, dims[0]);
  bounds = l.Convert(bounds, hlo::kS64);
  const int64_t count = l.dims(bounds)[0] - (by_length ? 0 : 1);
  if (count < 0) Refuse("offsets are one more than segments: none are given");
  // The segment of a row is the number of segments that end before it.
  const Op edges = by_length ? lazy::Prefixes(l, bounds, 0, hlo::kAdd) : bounds;
  Op segment = lazy::SearchOps(l, edges, lazy::IndexIota(l, {dims[0]}, 0), true);
  if (!by_length) segment = segment - l.Number(hlo::kS64, 1);
  // Rows after the last segment or before the first get an index past the end, which a scatter ignores.
  segment =
      lazy::SelectOps(l, lazy::CompareOps(l, segment, 0, Order::kLt), l.Number(hlo::kS64, count), segment);
  const How how = HowTo(reduction);
  Dims to = dims;
  to[0] = count;
  const PrimitiveType type = l.type(x);
  const Op start = l.BroadcastTo(l.Setting(type, options.initial.value_or(how.neutral), "initial"), to);
  const Op reduced = lazy::ScatterSlices(l, start, 0, segment, x, how.combine);
  if (reduction != ScatterReduction::kMean) return reduced;
  const Op lengths =
      by_length ? bounds
                : lazy::SliceDim(l, bounds, 0, 1, count + 1) - lazy::SliceDim(l, bounds, 0, 0, count);
  const Op spread = l.b.Broadcast(l.Convert(lengths, type), to, {0});
  const Op some = lazy::CompareOps(l, spread, 0, Order::kGt);
  const Op mean = reduced / lazy::SelectOps(l, some, spread, l.Number(type, 1));
  return options.initial.has_value() ? mean : lazy::SelectOps(l, some, mean, l.Number(type, lazy::kNan));
}

}  // namespace

Tensor SegmentReduce(const Operand& x, ScatterReduction reduction, const SegmentOptions& options) {
  if (options.lengths.defined() == options.offsets.defined()) {
    lazy::Throw(ErrorKind::kArgument, "segments are given by their lengths or by their offsets, one of both",
                "segment_reduce", x.caller());
  }
  const Tensor& bounds = options.lengths.defined() ? options.lengths : options.offsets;
  return lazy::Call(lazy::ops::SegmentReduce, {x, Operand(bounds, x.caller())}, [&](Lowering& l, Operands o) {
    return lazy::InWide(l, o[0],
                        [&](Lowering& l, Op x) { return SegmentOps(l, x, o[1], reduction, options); });
  });
}

}  // namespace hlod
