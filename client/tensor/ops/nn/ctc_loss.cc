// Connectionist temporal classification (Graves et al. 2006): the forward recursion, in logarithms.
#include <algorithm>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/nn/loss.h"
#include "client/tensor/ops/reduction/loop.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/value/numbers.h"
#include "hlod/ops/arrangement.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;
using lazy::State;

namespace {

using lazy::kInfinity;

// Returns the targets as [n, longest]. Elements after a target's end are ignored.
Tensor Rows(const Tensor& targets, const std::vector<int64_t>& lengths) {
  if (targets.rank() == 2) return targets;
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<Tensor> rows;
  int64_t start = 0;
  for (const int64_t length : lengths) {
    rows.push_back(Pad(targets.Narrow(0, start, length), {0, longest - length}));
    start += length;
  }
  return Stack(rows);
}

// Returns log(exp(x) + exp(y) + exp(z)), for use in a loop; minus infinity is the logarithm of an impossible
// event.
Op LogSum(hlo::Builder& b, Op x, Op y, Op z) {
  const Op largest = b.Binary(hlo::kMaximum, b.Binary(hlo::kMaximum, x, y), z);
  const Op nothing = b.Compare(largest, lazy::FullLike(b, largest, -kInfinity), Order::kEq);
  const Op shift = b.Select(nothing, lazy::FullLike(b, largest, 0), largest);
  const auto power = [&](Op value) { return b.Unary(hlo::kExponential, value - shift); };
  const Op sum = power(x) + power(y) + power(z);
  // The logarithm is not taken at 0, where its derivative is infinite.
  const Op log = b.Unary(hlo::kLog, b.Select(nothing, lazy::FullLike(b, sum, 1), sum));
  return b.Select(nothing, largest, log + shift);
}

// Shifts the last dimension to the right by `by`, filling with minus infinity.
Op Shifted(hlo::Builder& b, Op x, int64_t by) {
  return b.Pad(x, lazy::NumberLike(b, x, -kInfinity), std::vector<hlo::PadDimension>{{}, {by, -by, 0}});
}

// Returns minus the log probability of each target. Position 2 s + 1 of a row is label s; the other positions
// are blanks. The operands are the log probabilities, the targets, and the lengths of both.
Op LossOps(Lowering& l, Operands o, int64_t blank) {
  const Op probabilities = o[0], targets = l.Convert(o[1], hlo::kS64);
  const Dims dims = l.dims(probabilities);
  const int64_t time = dims[0], n = dims[1], longest = l.dims(targets)[1], width = 2 * longest + 1;
  const PrimitiveType type = l.type(probabilities);
  const Op padded = lazy::PadDim(l, targets, l.Number(hlo::kS64, blank), 1, {1, 1, 1});
  // Labels are at odd positions: the padding put a blank before, between and after them.
  const Op labels = lazy::SliceDim(l, padded, 1, 0, width);
  Op emissions = lazy::GatherAlong(l, probabilities, 2, l.b.Broadcast(labels, {time, n, width}, {1, 2}));
  // A label may follow the previous one directly, without a blank, if they differ.
  const Op before =
      l.b.Pad(labels, l.Number(hlo::kS64, blank), std::vector<hlo::PadDimension>{{}, {2, -2, 0}});
  const Op skips = l.b.Binary(hlo::kAnd, lazy::CompareOps(l, labels, l.Number(hlo::kS64, blank), Order::kNe),
                              l.b.Compare(labels, before, Order::kNe));
  const Op place = lazy::IndexIota(l, {n, width}, 1);
  const Op begins = lazy::CompareOps(l, place, l.Number(hlo::kS64, 2), Order::kLt);
  const Op first = l.Reshape(lazy::SliceDim(l, emissions, 0, 0, 1), {n, width});
  const Op alpha = lazy::SelectOps(l, begins, first, l.Number(type, -kInfinity));
  const Op lengths = l.b.Broadcast(o[2], {n, width}, {0});
  const State state = lazy::ForEach(
      l, time - 1, {alpha, emissions, skips, lengths}, [&](hlo::Builder& b, Op k, const State& s) {
        const Op at = k + lazy::NumberIn(b, hlo::kS64, 1), zero = lazy::NumberIn(b, hlo::kS64, 0);
        const Op emission = b.Reshape(b.DynamicSlice(s[1], {at, zero, zero}, {1, n, width}), {n, width});
        const Op two = b.Select(s[2], Shifted(b, s[0], 2), lazy::FullLike(b, s[0], -kInfinity));
        const Op next = LogSum(b, s[0], Shifted(b, s[0], 1), two) + emission;
        const Op inside = b.Compare(b.Broadcast(at, {n, width}, {}), s[3], Order::kLt);
        return State{b.Select(inside, next, s[0]), s[1], s[2], s[3]};
      });
  // A path ends with the last label or the blank after it.
  const Op end = l.b.Broadcast(o[3] * l.Number(hlo::kS64, 2), {n, width}, {0});
  const Op is_end = l.b.Binary(hlo::kOr, l.b.Compare(place, end, Order::kEq),
                               l.b.Compare(place, end - l.Number(hlo::kS64, 1), Order::kEq));
  const Op last = lazy::SelectOps(l, is_end, state[0], l.Number(type, -kInfinity));
  const Op largest = l.Reduce(hlo::kMaximum, last, {1});
  const Op nothing = lazy::CompareOps(l, largest, -kInfinity, Order::kEq);
  const Op shift = lazy::SelectOps(l, nothing, l.Number(type, 0), largest);
  const Op powers = l.b.Unary(hlo::kExponential, last - l.b.Broadcast(shift, {n, width}, {0}));
  const Op sum = lazy::SelectOps(l, nothing, l.Number(type, 1), l.Reduce(hlo::kAdd, powers, {1}));
  const Op loss = l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kLog, sum) + shift);
  return lazy::SelectOps(l, nothing, l.Number(type, kInfinity), loss);
}

void Check(const Tensor& x, const Tensor& targets, const std::vector<int64_t>& input_lengths,
           const std::vector<int64_t>& target_lengths, int64_t blank, const Caller& caller) {
  const std::vector<Operand> operands = {Operand(x, caller), Operand(targets, caller)};
  lazy::Explain(lazy::ops::CtcLoss, operands, caller, [&] {
    if (x.rank() != 3 || !hlo::IsFloat(x.dtype())) Refuse("log probabilities are [time, n, classes]");
    const int64_t time = x.size(0), n = x.size(1);
    if (time < 1 || n < 1) Refuse("shape %s has no elements", ListText(x.dims()));
    if (blank < 0 || blank >= x.size(2)) Refuse("blank (%d) is not one of %d classes", blank, x.size(2));
    if (static_cast<int64_t>(input_lengths.size()) != n || static_cast<int64_t>(target_lengths.size()) != n) {
      Refuse("%d input lengths and %d target lengths are not one for each of %d sequences",
             input_lengths.size(), target_lengths.size(), n);
    }
    int64_t total = 0;
    const bool rows = targets.rank() == 2;
    for (int64_t i = 0; i < n; ++i) {
      if (input_lengths[i] < 1 || input_lengths[i] > time) {
        Refuse("input length %d (%d) is not from 1 to %d", i, input_lengths[i], time);
      }
      if (target_lengths[i] < 0 || (rows && target_lengths[i] > targets.size(1))) {
        Refuse("target length %d (%d) does not fit targets of shape %s", i, target_lengths[i],
               ListText(targets.dims()));
      }
      total += target_lengths[i];
    }
    if (rows ? targets.size(0) != n : targets.rank() != 1 || targets.numel() != total) {
      Refuse("targets of shape %s are not of %d sequences with %d labels", ListText(targets.dims()), n,
             total);
    }
  });
}

}  // namespace

Tensor CtcLoss(const Tensor& log_probabilities, const Tensor& targets,
               const std::vector<int64_t>& input_lengths, const std::vector<int64_t>& target_lengths,
               int64_t blank, Reduction reduction, bool zero_infinity, Caller caller) {
  const CallerScope scope(caller);
  Check(log_probabilities, targets, input_lengths, target_lengths, blank, caller);
  // Lengths are operands, so that other lengths use the same program.
  const Device device = log_probabilities.device();
  const Tensor inputs = FromValues<int64_t>(input_lengths, {}, device);
  const Tensor lengths = FromValues<int64_t>(target_lengths, {}, device);
  Tensor loss =
      lazy::Call(lazy::ops::CtcLoss, {log_probabilities, Rows(targets, target_lengths), inputs, lengths},
                 [&](Lowering& l, Operands o) { return LossOps(l, o, blank); });
  if (zero_infinity) loss = Where(Isinf(loss), 0, loss);
  if (reduction != Reduction::kMean) return lazy::Reduced(loss, reduction);
  return Mean(loss / Clamp(lengths, Operand(1)));
}

}  // namespace hlod
