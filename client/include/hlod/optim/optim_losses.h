// Losses of Optax, with its arguments: a value per example, not reduced. They have gradients.
#pragma once

#include "hlod/tensor/operand.h"
#include "hlod/tensor/tensor.h"

namespace hlod::optim {

Tensor L2Loss(const Operand& predictions, const Operand& targets);   // Half the squared error.
Tensor LogCosh(const Operand& predictions, const Operand& targets);  // log(cosh(error)).
// max(0, 1 - output * target), for targets of -1 and 1.
Tensor HingeLoss(const Operand& outputs, const Operand& targets);
// 1 less the cosine of the angle along `dim`; squared norms are at least `eps`.
Tensor CosineDistance(const Operand& predictions, const Operand& targets, double eps = 0, int64_t dim = -1);
// The sum along `dim` of target * (log(target) - log_prediction); the last adds exp(log_prediction) - target
// to each, for what does not sum to 1.
Tensor KlDivergence(const Operand& log_predictions, const Operand& targets, int64_t dim = -1);
Tensor GeneralizedKlDivergence(const Operand& log_predictions, const Operand& targets, int64_t dim = -1);
// The normalized, temperature-scaled cross entropy of pairs of embeddings [examples, features] with equal
// labels [examples], as a mean over all such pairs. Chen et al., 2020.
Tensor Ntxent(const Operand& embeddings, const Tensor& labels, double temperature = 0.07);
// (1 - alpha) labels + alpha / classes.
Tensor SmoothLabels(const Operand& labels, double alpha);

// The connectionist temporal classification of logits [batch, time, classes] and labels [batch, length],
// whose paddings [batch, time] and [batch, length] are 1 for padding and 0 elsewhere. Labels are padded
// at their end.
struct CtcOptions {
  int64_t blank_id = 0;
  double log_epsilon = -1e5;  // Stands for the logarithm of 0.
};
struct CtcResult {
  Tensor loss;  // [batch]
  // The logarithms of the forward probabilities, [time, batch, length + 1] and [time, batch, length].
  Tensor log_alpha_blank, log_alpha_nonblank;
};
CtcResult CtcLossWithForwardProbs(const Tensor& logits, const Tensor& logit_paddings, const Tensor& labels,
                                  const Tensor& label_paddings, const CtcOptions& options = {},
                                  Caller caller = Caller::Here());

}  // namespace hlod::optim
