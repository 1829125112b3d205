// Losses of Optax, from operations that have gradients.
#include "hlod/optim/optim_losses.h"

#include <limits>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "client/tensor/value/limits.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"

namespace hlod::optim {

Tensor L2Loss(const Operand& predictions, const Operand& targets) {
  const CallerScope scope(predictions.caller());
  return Square(Sub(predictions, targets)) * 0.5;
}

Tensor LogCosh(const Operand& predictions, const Operand& targets) {
  const CallerScope scope(predictions.caller());
  const Tensor error = Sub(predictions, targets);
  return Logaddexp(error, -error) - std::numbers::ln2;
}

Tensor HingeLoss(const Operand& outputs, const Operand& targets) {
  const CallerScope scope(outputs.caller());
  const Tensor margin = 1 - Mul(outputs, targets);
  return Maximum(margin, ZerosLike(margin));
}

Tensor CosineDistance(const Operand& predictions, const Operand& targets, double eps, int64_t dim) {
  const CallerScope scope(predictions.caller());
  const auto unit = [&](const Operand& x) {
    return Div(x, Sqrt(ClampMin(Sum(Square(x), {dim}, true), eps)));
  };
  return 1 - Sum(unit(predictions) * unit(targets), {dim});
}

Tensor KlDivergence(const Operand& log_predictions, const Operand& targets, int64_t dim) {
  const CallerScope scope(log_predictions.caller());
  const Tensor log_targets = Where(Eq(targets, 0), 0.0, Log(targets));
  return Sum(Mul(targets, Sub(log_targets, log_predictions)), {dim});
}

Tensor GeneralizedKlDivergence(const Operand& log_predictions, const Operand& targets, int64_t dim) {
  const CallerScope scope(log_predictions.caller());
  return KlDivergence(log_predictions, targets, dim) + Sum(Sub(Exp(log_predictions), targets), {dim});
}

Tensor Ntxent(const Operand& embeddings, const Tensor& labels, double temperature) {
  const CallerScope scope(embeddings.caller());
  const Tensor x = Mul(embeddings, 1);
  RequireThat(
      x.rank() == 2 && labels.rank() == 1 && labels.size(0) == x.size(0),
      absl::StrCat("the embeddings are ", hlo::ToStringNoLayout(x.shape()), " and the labels ",
                   hlo::ToStringNoLayout(labels.shape()), "; [examples, features] and [examples] are needed"),
      "ntxent", embeddings.caller());
  const double eps = x.dtype() == kF64 ? 0x1p-52 : 0x1p-23;
  const Tensor unit = Div(x, Sqrt(ClampMin(Sum(Square(x), {1}, true), eps)));
  const Tensor similar = MatMul(unit, unit.Transpose(0, 1)) / temperature;
  const Tensor same = Eq(labels.Unsqueeze(1), labels.Unsqueeze(0));
  const Tensor self = Eye(x.size(0), {}, {.device = x.device()}).To(kPred);
  const Tensor pairs = LogicalAnd(same, LogicalNot(self));
  // An example is compared with itself in no term, so that its own similarity does not count for the shift.
  const double lowest = -std::numeric_limits<double>::infinity();
  const Tensor shifted = similar - Amax(Where(self, lowest, similar).To(x.dtype()), {1}, true).Detach();
  const Tensor others = Sum(Where(same, 0, Exp(shifted)).To(x.dtype()), {1}, true);
  const Tensor terms = shifted - Log(others + Exp(shifted));
  return -Sum(Where(pairs, terms, 0).To(x.dtype())) / Sum(pairs.To(x.dtype()));
}

Tensor SmoothLabels(const Operand& labels, double alpha) {
  const CallerScope scope(labels.caller());
  const Tensor scaled = Mul(labels, 1 - alpha);
  return scaled + alpha / static_cast<double>(scaled.size(-1));
}

}  // namespace hlod::optim
