// Losses, written in other operations. Each is reduced to its mean, its sum, or not at all.
#pragma once

#include <optional>

#include "hlod/tensor.h"

namespace hlod {

enum class Reduction { kMean, kSum, kNone };

Tensor MseLoss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::kMean);  // Squares.
Tensor L1Loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::kMean);
// Squares within beta of the target, distances beyond.
Tensor SmoothL1Loss(const Tensor& x, const Tensor& target, double beta = 1,
                    Reduction reduction = Reduction::kMean);
Tensor HuberLoss(const Tensor& x, const Tensor& target, double delta = 1,
                 Reduction reduction = Reduction::kMean);
// Of probabilities x. Logarithms are not below -100.
Tensor BinaryCrossEntropy(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                          Reduction reduction = Reduction::kMean);
Tensor BinaryCrossEntropyWithLogits(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                                    const Tensor& pos_weight = {}, Reduction reduction = Reduction::kMean);
Tensor SoftMarginLoss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::kMean);
Tensor HingeEmbeddingLoss(const Tensor& x, const Tensor& target, double margin = 1,
                          Reduction reduction = Reduction::kMean);
Tensor MarginRankingLoss(const Tensor& x, const Tensor& y, const Tensor& target, double margin = 0,
                         Reduction reduction = Reduction::kMean);
Tensor PoissonNllLoss(const Tensor& x, const Tensor& target, bool log_input = true, bool full = false,
                      double eps = 1e-8, Reduction reduction = Reduction::kMean);
// The cosine of the angle between vectors along `dim`.
Tensor CosineSimilarity(const Tensor& x, const Tensor& y, int64_t dim = 1, double eps = 1e-8);
// `x`: log probabilities [n, classes, ...] or [classes]; `target`: classes. Those equal to ignore_index count
// nothing.
Tensor NllLoss(const Tensor& x, const Tensor& target, const Tensor& weight = {}, int64_t ignore_index = -100,
               Reduction reduction = Reduction::kMean);
// Of logits; the target is classes, or probabilities of x's shape.
Tensor CrossEntropy(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                    int64_t ignore_index = -100, double label_smoothing = 0,
                    Reduction reduction = Reduction::kMean);

}  // namespace hlod
