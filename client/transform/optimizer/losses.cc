// Losses of Optax, from operations that have gradients.
#include "hlod/optim/optim_losses.h"

#include <numbers>

#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
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

Tensor SmoothLabels(const Operand& labels, double alpha) {
  const CallerScope scope(labels.caller());
  const Tensor scaled = Mul(labels, 1 - alpha);
  return scaled + alpha / static_cast<double>(scaled.size(-1));
}

}  // namespace hlod::optim
