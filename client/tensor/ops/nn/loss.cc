// Losses composed of public operations, so that gradients and autocast apply to their parts.
#include "hlod/ops/nn/loss.h"

#include <numbers>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/dispatch/autocast.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/nn/loss.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/activation.h"
#include "hlod/ops/nn/softmax.h"
#include "hlod/ops/reduction.h"
#include "hlod/ops/shape.h"

namespace hlod {

namespace lazy {

Tensor Reduced(const Tensor& loss, Reduction reduction) {
  switch (reduction) {
    case Reduction::kMean: return Mean(loss);
    case Reduction::kSum: return Sum(loss);
    case Reduction::kBatchMean: return Sum(loss) / (loss.rank() == 0 ? 1 : loss.size(0));
    case Reduction::kNone: break;
  }
  return loss;
}

}  // namespace lazy

using lazy::Reduced;

namespace {

// Returns the dimension of the classes.
int64_t ClassDim(const Tensor& x) { return x.rank() < 2 ? 0 : 1; }

// Reshapes a vector of one number per class so that it broadcasts along x's classes.
Tensor AlongClasses(const Tensor& vector, const Tensor& x) {
  Dims shape(static_cast<size_t>(x.rank()), 1);
  shape[static_cast<size_t>(ClassDim(x))] = vector.numel();
  return vector.Reshape(shape);
}

// Returns a mask that is true at the target class, and false everywhere for an ignored target.
Tensor IsTarget(const Tensor& x, const Tensor& target, const Tensor& kept) {
  const int64_t dim = ClassDim(x);
  const Tensor classes = AlongClasses(Arange(0, x.size(dim), 1, {.type = kS64, .device = x.device()}), x);
  return LogicalAnd(Eq(target.Unsqueeze(dim), classes), kept.Unsqueeze(dim));
}

// Elementwise binary cross entropy. As in PyTorch, logarithms are at least -100, and the divisor in the
// gradient is at least 1e-12.
Tensor EachBinaryCrossEntropy(const Tensor& x, const Tensor& target) {
  static constexpr lazy::Operation kOperation = {"BinaryCrossEntropy", "binary_cross_entropy",
                                                 lazy::Promotion::kFloat,
                                                 "the cross entropy of probabilities"};
  return lazy::Binary(kOperation, x, target, [](lazy::Lowering& l, lazy::Op x, lazy::Op target) {
    return lazy::OwnDerivative(l, "binary_cross_entropy", {x, target}, [&](lazy::Operands o) {
      const lazy::Op one = lazy::N(l, x, 1), least = l.Full(l.type(x), l.dims(x), -100);
      const auto bounded = [&](lazy::Op log) { return l.b.Binary(hlo::kMaximum, log, least); };
      const lazy::Op yes = bounded(l.b.Unary(hlo::kLog, o[0]));
      const lazy::Op no = bounded(l.b.Unary(hlo::kLogPlusOne, l.b.Unary(hlo::kNegate, o[0])));
      return (o[1] - one) * no - o[1] * yes;
    });
  });
}

// True when `dim` names the same dimension of x, of y, and of the shape that they broadcast to, with one
// size.
bool HaveAlikeVectors(const Tensor& x, const Tensor& y, int64_t dim) {
  const int64_t at = dim < 0 ? dim + x.rank() : dim;
  return x.rank() == y.rank() && (at < 0 || at >= x.rank() || x.dims()[at] == y.dims()[at]);
}

}  // namespace

Tensor MseLoss(const Tensor& x, const Tensor& target, Reduction reduction, Caller caller) {
  const lazy::LossCall call("mse_loss", {&x, &target}, caller);
  call.RequireBroadcast(x, target);
  return lazy::UnderAutocast(
      "mse_loss",
      [&](const Tensor& x, const Tensor& target) -> Tensor { return Reduced(Square(x - target), reduction); },
      x, target);
}
Tensor L1Loss(const Tensor& x, const Tensor& target, Reduction reduction, Caller caller) {
  const lazy::LossCall call("l1_loss", {&x, &target}, caller);
  call.RequireBroadcast(x, target);
  return lazy::UnderAutocast(
      "l1_loss",
      [&](const Tensor& x, const Tensor& target) -> Tensor { return Reduced(Abs(x - target), reduction); }, x,
      target);
}
Tensor SmoothL1Loss(const Tensor& x, const Tensor& target, double beta, Reduction reduction, Caller caller) {
  const lazy::LossCall call("smooth_l1_loss", {&x, &target}, caller);
  call.RequireBroadcast(x, target);
  call.Require(beta >= 0, "beta (%g) is negative", beta);
  return lazy::UnderAutocast(
      "smooth_l1_loss",
      [&](const Tensor& x, const Tensor& target) -> Tensor {
        if (beta == 0) return L1Loss(x, target, reduction);
        const Tensor difference = x - target, distance = Abs(difference);
        return Reduced(Where(Lt(distance, beta), Square(difference) * (0.5 / beta), distance - 0.5 * beta),
                       reduction);
      },
      x, target);
}
Tensor HuberLoss(const Tensor& x, const Tensor& target, double delta, Reduction reduction, Caller caller) {
  const lazy::LossCall call("huber_loss", {&x, &target}, caller);
  call.RequireBroadcast(x, target);
  call.Require(delta > 0, "delta (%g) is not positive", delta);
  return lazy::UnderAutocast(
      "huber_loss",
      [&](const Tensor& x, const Tensor& target) -> Tensor {
        const Tensor difference = x - target, distance = Abs(difference);
        return Reduced(Where(Le(distance, delta), Square(difference) * 0.5, (distance - 0.5 * delta) * delta),
                       reduction);
      },
      x, target);
}

Tensor BinaryCrossEntropy(const Tensor& x, const Tensor& target, const Tensor& weight, Reduction reduction,
                          Caller caller) {
  const lazy::LossCall call("binary_cross_entropy", {&x, &target}, caller);
  call.RequireSame(x, target);
  if (weight.defined()) call.RequireBroadcast(x, weight);
  return lazy::UnderAutocast(
      "binary_cross_entropy",
      [&](const Tensor& x, const Tensor& target, const Tensor& weight) -> Tensor {
        const Tensor loss = EachBinaryCrossEntropy(x, target);
        return Reduced(weight.defined() ? loss * weight : loss, reduction);
      },
      x, target, weight);
}
Tensor BinaryCrossEntropyWithLogits(const Tensor& x, const Tensor& target, const Tensor& weight,
                                    const Tensor& pos_weight, Reduction reduction, Caller caller) {
  const lazy::LossCall call("binary_cross_entropy_with_logits", {&x, &target}, caller);
  call.RequireSame(x, target);
  if (weight.defined()) call.RequireBroadcast(x, weight);
  if (pos_weight.defined()) call.RequireBroadcast(x, pos_weight);
  return lazy::UnderAutocast(
      "binary_cross_entropy_with_logits",
      [&](const Tensor& x, const Tensor& target, const Tensor& weight, const Tensor& pos_weight) -> Tensor {
        const Tensor log_sigmoid = Logsigmoid(x);
        Tensor loss;
        if (pos_weight.defined()) {
          loss = (1 - target) * x - ((pos_weight - 1) * target + 1) * log_sigmoid;
        } else {
          loss = (1 - target) * x - log_sigmoid;
        }
        return Reduced(weight.defined() ? loss * weight : loss, reduction);
      },
      x, target, weight, pos_weight);
}
Tensor SoftMarginLoss(const Tensor& x, const Tensor& target, Reduction reduction, Caller caller) {
  const lazy::LossCall call("soft_margin_loss", {&x, &target}, caller);
  call.RequireBroadcast(x, target);
  return lazy::UnderAutocast(
      "soft_margin_loss",
      [&](const Tensor& x, const Tensor& target) -> Tensor {
        return Reduced(-Logsigmoid(target * x), reduction);
      },
      x, target);
}
Tensor HingeEmbeddingLoss(const Tensor& x, const Tensor& target, double margin, Reduction reduction,
                          Caller caller) {
  const lazy::LossCall call("hinge_embedding_loss", {&x, &target}, caller);
  call.RequireBroadcast(x, target);
  return lazy::UnderAutocast(
      "hinge_embedding_loss",
      [&](const Tensor& x, const Tensor& target) -> Tensor {
        // A target that is neither 1 nor -1 contributes to both cases, as in PyTorch.
        const Tensor near = Where(Ne(target, -1), x, 0),
                     far = Where(Ne(target, 1), Clamp(margin - x, Operand(0)), 0);
        return Reduced(near + far, reduction);
      },
      x, target);
}
Tensor MarginRankingLoss(const Tensor& x, const Tensor& y, const Tensor& target, double margin,
                         Reduction reduction, Caller caller) {
  const lazy::LossCall call("margin_ranking_loss", {&x, &y, &target}, caller);
  call.Require(x.rank() == y.rank() && x.rank() == target.rank(),
               "the inputs %s and %s and the target %s have not one number of dimensions",
               lazy::ListText(x.dims()), lazy::ListText(y.dims()), lazy::ListText(target.dims()));
  call.RequireBroadcast(x, y);
  call.RequireBroadcast(x, target);
  return lazy::UnderAutocast(
      "margin_ranking_loss",
      [&](const Tensor& x, const Tensor& y, const Tensor& target) -> Tensor {
        return Reduced(Clamp(-target * (x - y) + margin, Operand(0)), reduction);
      },
      x, y, target);
}
Tensor PoissonNllLoss(const Tensor& x, const Tensor& target, bool log_input, bool full, double eps,
                      Reduction reduction, Caller caller) {
  const lazy::LossCall call("poisson_nll_loss", {&x, &target}, caller);
  call.RequireBroadcast(x, target);
  return lazy::UnderAutocast(
      "poisson_nll_loss",
      [&](const Tensor& x, const Tensor& target) -> Tensor {
        Tensor loss = log_input ? Exp(x) - target * x : x - target * Log(x + eps);
        if (full) {
          const Tensor stirling = target * Log(target) - target + 0.5 * Log(2 * std::numbers::pi * target);
          loss = loss + Where(Gt(target, 1), stirling, 0);
        }
        return Reduced(loss, reduction);
      },
      x, target);
}

Tensor CosineSimilarity(const Tensor& x, const Tensor& y, int64_t dim, double eps, Caller caller) {
  const lazy::LossCall call("cosine_similarity", {&x, &y}, caller);
  call.RequireBroadcast(x, y);
  return lazy::UnderAutocast(
      "cosine_similarity",
      [&](const Tensor& x, const Tensor& y) -> Tensor {
        // The squares are bounded from below, because the derivative of the root at 0 is infinite.
        const Dims along = {dim};
        const auto unit = [&](const Tensor& z) -> Tensor {
          return z / Sqrt(Clamp(Sum(z * z, along, true), Operand(eps * eps)));
        };
        if (HaveAlikeVectors(x, y, dim)) return Sum(unit(x) * unit(y), along);
        const std::vector<Tensor> both = BroadcastTensors({x, y});
        return Sum(unit(both[0]) * unit(both[1]), along);
      },
      x, y);
}

Tensor NllLoss(const Tensor& x, const Tensor& target, const Tensor& weight, int64_t ignore_index,
               Reduction reduction, Caller caller) {
  const lazy::LossCall call("nll_loss", {&x, &target}, caller);
  call.RequireClasses(x, target, weight);
  call.CheckClasses(target, x.size(ClassDim(x)), ignore_index);
  return lazy::UnderAutocast(
      "nll_loss",
      [&](const Tensor& x, const Tensor& target, const Tensor& weight) -> Tensor {
        const Dims along = {ClassDim(x)};
        const Tensor is_target = IsTarget(x, target, Ne(target, ignore_index));
        const Tensor weights = Where(
            is_target, weight.defined() ? AlongClasses(weight, x) : Ones({}, {x.dtype(), x.device()}), 0);
        const Tensor loss = -Sum(Where(is_target, x * weights, 0), along);
        if (reduction != Reduction::kMean) return Reduced(loss, reduction);
        return Sum(loss) / Sum(weights);
      },
      x, target, weight);
}

Tensor CrossEntropy(const Tensor& x, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                    double label_smoothing, Reduction reduction, Caller caller) {
  const lazy::LossCall call("cross_entropy", {&x, &target}, caller);
  call.Require(label_smoothing >= 0 && label_smoothing <= 1, "label_smoothing (%g) is not from 0 to 1",
               label_smoothing);
  const bool probabilities = target.dims() == x.dims() && hlo::IsFloat(target.dtype());
  if (!probabilities) {
    call.RequireClasses(x, target, weight);
    call.CheckClasses(target, x.size(ClassDim(x)), ignore_index);
  }
  if (probabilities && weight.defined()) {
    call.Require(weight.dims() == Dims{x.size(ClassDim(x))},
                 "the weight's shape %s is not one number for each class", lazy::ListText(weight.dims()));
  }
  return lazy::UnderAutocast(
      "cross_entropy",
      [&](const Tensor& x, const Tensor& target, const Tensor& weight) -> Tensor {
        const int64_t dim = ClassDim(x);
        const Dims along = {dim};
        const Tensor log_probability = LogSoftmax(x, dim);
        const auto classes = static_cast<double>(x.size(dim));
        if (probabilities) {
          const Tensor smooth =
              label_smoothing == 0 ? target : target * (1 - label_smoothing) + label_smoothing / classes;
          const Tensor weighted =
              weight.defined() ? log_probability * AlongClasses(weight, x) : log_probability;
          const Tensor loss = -Sum(weighted * smooth, along);
          if (reduction != Reduction::kMean) return Reduced(loss, reduction);
          return Sum(loss) / (static_cast<double>(x.numel()) / classes);
        }
        const Tensor loss = NllLoss(log_probability, target, weight, ignore_index, reduction);
        if (label_smoothing == 0) return loss;
        const Tensor kept = Ne(target, ignore_index);
        const Tensor weighted =
            weight.defined() ? log_probability * AlongClasses(weight, x) : log_probability;
        Tensor smooth = Where(kept, -Sum(weighted, along), 0);
        if (reduction == Reduction::kSum) smooth = Sum(smooth);
        if (reduction == Reduction::kMean) {
          const Tensor counted = weight.defined()
                                     ? Sum(Where(IsTarget(x, target, kept), AlongClasses(weight, x), 0))
                                     : Sum(kept);
          smooth = Sum(smooth) / counted;
        }
        return loss * (1 - label_smoothing) + smooth * (label_smoothing / classes);
      },
      x, target, weight);
}

}  // namespace hlod
