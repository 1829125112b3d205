// Loss functions, composed of other operations. Each is reduced to its mean, its sum, its sum divided by the
// batch size (dimension 0), or not at all. Shapes that do not match are refused as in PyTorch, with the line
// of the call.
#pragma once

#include <functional>
#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

enum class Reduction { kMean, kSum, kNone, kBatchMean };

Tensor MseLoss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::kMean,
               Caller caller = Caller::Here());  // The squared differences.
Tensor L1Loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::kMean,
              Caller caller = Caller::Here());  // The absolute differences.
// d d / (2 beta) for differences |d| < beta, |d| - beta / 2 beyond; HuberLoss is delta times that.
Tensor SmoothL1Loss(const Tensor& x, const Tensor& target, double beta = 1,
                    Reduction reduction = Reduction::kMean, Caller caller = Caller::Here());
Tensor HuberLoss(const Tensor& x, const Tensor& target, double delta = 1,
                 Reduction reduction = Reduction::kMean, Caller caller = Caller::Here());
// The binary cross entropy of probabilities x. Logarithms are clamped to at least -100.
Tensor BinaryCrossEntropy(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                          Reduction reduction = Reduction::kMean, Caller caller = Caller::Here());
// The same of probabilities sigmoid(x). `pos_weight` is the weight of positive examples, per class.
Tensor BinaryCrossEntropyWithLogits(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                                    const Tensor& pos_weight = {}, Reduction reduction = Reduction::kMean,
                                    Caller caller = Caller::Here());
// log(1 + exp(-target x)), for targets 1 and -1.
Tensor SoftMarginLoss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::kMean,
                      Caller caller = Caller::Here());
// x where the target is 1, max(0, margin - x) where it is -1.
Tensor HingeEmbeddingLoss(const Tensor& x, const Tensor& target, double margin = 1,
                          Reduction reduction = Reduction::kMean, Caller caller = Caller::Here());
// max(0, -target (x - y) + margin): the target is 1 where x should rank above y, else -1.
Tensor MarginRankingLoss(const Tensor& x, const Tensor& y, const Tensor& target, double margin = 0,
                         Reduction reduction = Reduction::kMean, Caller caller = Caller::Here());
// The negative log likelihood of counts `target` at rates exp(x), or x when not `log_input`: exp(x) - target
// x, or x - target log(x + eps). `full` adds Stirling's approximation of log(target!).
Tensor PoissonNllLoss(const Tensor& x, const Tensor& target, bool log_input = true, bool full = false,
                      double eps = 1e-8, Reduction reduction = Reduction::kMean,
                      Caller caller = Caller::Here());
// The cosine of the angle between vectors along `dim`.
Tensor CosineSimilarity(const Tensor& x, const Tensor& y, int64_t dim = 1, double eps = 1e-8,
                        Caller caller = Caller::Here());
// 1 - cos(x, y) where the target is 1, max(0, cos(x, y) - margin) where it is -1, for vectors along the last
// dimension.
Tensor CosineEmbeddingLoss(const Tensor& x, const Tensor& y, const Tensor& target, double margin = 0,
                           Reduction reduction = Reduction::kMean, Caller caller = Caller::Here());
// The Kullback-Leibler divergence of the target from exp(x); the target is probabilities, or their
// logarithms.
Tensor KlDiv(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::kMean,
             bool log_target = false, Caller caller = Caller::Here());
// The negative log likelihood of normal distributions with means x and variances `variance`, which has x's
// shape or one value per row. Variances are clamped to at least eps.
Tensor GaussianNllLoss(const Tensor& x, const Tensor& target, const Tensor& variance, bool full = false,
                       double eps = 1e-6, Reduction reduction = Reduction::kMean,
                       Caller caller = Caller::Here());

// Sums max(0, margin - x[class] + x[other])^p, p being 1 or 2, over the other classes, for scores [n,
// classes] or [classes] and the class of each.
Tensor MultiMarginLoss(const Tensor& x, const Tensor& target, double p = 1, double margin = 1,
                       const Tensor& weight = {}, Reduction reduction = Reduction::kMean,
                       Caller caller = Caller::Here());
// The multi-class margin loss when examples have several classes: the target is a row of classes that ends at
// the first -1.
Tensor MultilabelMarginLoss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::kMean,
                            Caller caller = Caller::Here());
// The mean over the classes of the sigmoid cross entropy of each; the target is 0 or 1 per class.
Tensor MultilabelSoftMarginLoss(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                                Reduction reduction = Reduction::kMean, Caller caller = Caller::Here());

struct TripletOptions {
  double margin = 1, p = 2, eps = 1e-6;
  bool swap = false;  // Uses the smaller of the negative's distances to the anchor and to the positive.
  Reduction reduction = Reduction::kMean;
};
// max(d(anchor, positive) - d(anchor, negative) + margin, 0).
Tensor TripletMarginLoss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                         const TripletOptions& options = {}, Caller caller = Caller::Here());
// The triplet loss with another distance.
using DistanceFunction = std::function<Tensor(const Tensor&, const Tensor&)>;
Tensor TripletMarginWithDistanceLoss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                     const DistanceFunction& distance = {},
                                     const TripletOptions& options = {}, Caller caller = Caller::Here());

// The CTC loss of log probabilities [time, n, classes] and target sequences [n, length] (or one after another
// as a vector): minus the log probability of all ways to write a target with blanks and repeats. The mean
// divides each by its target's length. With `zero_infinity`, a target that is too long for its input has the
// loss 0.
Tensor CtcLoss(const Tensor& log_probabilities, const Tensor& targets,
               const std::vector<int64_t>& input_lengths, const std::vector<int64_t>& target_lengths,
               int64_t blank = 0, Reduction reduction = Reduction::kMean, bool zero_infinity = false,
               Caller caller = Caller::Here());
// `x`: log probabilities [n, classes, ...] or [classes]; `target`: classes of any integer type. Targets equal
// to ignore_index are left out. Another value that is not a class throws when the target is on the host; on a
// device it is left out, as by PyTorch/XLA: the mean of no target is NaN.
Tensor NllLoss(const Tensor& x, const Tensor& target, const Tensor& weight = {}, int64_t ignore_index = -100,
               Reduction reduction = Reduction::kMean, Caller caller = Caller::Here());
// The cross entropy of logits; the target is classes, as for NllLoss, or probabilities with x's shape.
Tensor CrossEntropy(const Tensor& x, const Tensor& target, const Tensor& weight = {},
                    int64_t ignore_index = -100, double label_smoothing = 0,
                    Reduction reduction = Reduction::kMean, Caller caller = Caller::Here());

}  // namespace hlod
