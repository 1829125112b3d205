// Losses with margins, and losses of distributions.
#include <cmath>
#include <numbers>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/dispatch/autocast.h"
#include "client/tensor/ops/nn/loss.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/indexing.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/activation.h"
#include "hlod/ops/nn/distance.h"
#include "hlod/ops/reduction.h"
#include "hlod/ops/shape.h"

namespace hlod {

using lazy::Reduced;

namespace {

// Returns the scores as [n, classes].
Tensor AsRows(const Tensor& x) { return x.rank() == 2 ? x : x.Reshape({1, x.numel()}); }

// Returns the indices of the last dimension.
Tensor ClassNumbers(const Tensor& x) {
  return Arange(0, x.size(-1), 1, {.type = kS64, .device = x.device()});
}

// Reduces a vector with one loss per row. When x is one row without a batch, the loss is a scalar.
Tensor OfRows(const Tensor& loss, const Tensor& x, Reduction reduction) {
  return Reduced(x.rank() < 2 ? loss.Reshape({}) : loss, reduction);
}

}  // namespace

Tensor CosineEmbeddingLoss(const Tensor& x, const Tensor& y, const Tensor& target, double margin,
                           Reduction reduction, Caller caller) {
  const lazy::LossCall call("cosine_embedding_loss", {&x, &y, &target}, caller);
  call.Require(x.rank() == y.rank() && x.rank() == target.rank() + 1 && target.rank() <= 1,
               "inputs %s and %s and a target %s are not vectors and one number for each pair",
               lazy::ListText(x.dims()), lazy::ListText(y.dims()), lazy::ListText(target.dims()));
  call.RequireBroadcast(x, y);
  if (target.rank() == 1) call.RequireBroadcast(x.Select(1, 0), target);
  return lazy::UnderAutocast(
      "cosine_embedding_loss",
      [&](const Tensor& x, const Tensor& y, const Tensor& target) -> Tensor {
        constexpr double kEps = 1e-12;
        const Dims last = {-1};
        const Tensor product = Sum(x * y, last), a = Sum(x * x, last) + kEps, b = Sum(y * y, last) + kEps;
        const Tensor cosine = product / Sqrt(a * b);
        const Tensor near = Where(Eq(target, 1), 1 - cosine, 0);
        return Reduced(near + Where(Eq(target, -1), Clamp(cosine - margin, Operand(0)), 0), reduction);
      },
      x, y, target);
}

Tensor KlDiv(const Tensor& x, const Tensor& target, Reduction reduction, bool log_target, Caller caller) {
  const lazy::LossCall call("kl_div", {&x, &target}, caller);
  call.RequireBroadcast(x, target);
  return lazy::UnderAutocast(
      "kl_div",
      [&](const Tensor& x, const Tensor& target) -> Tensor {
        return Reduced(log_target ? Exp(target) * (target - x) : Xlogy(target, target) - target * x,
                       reduction);
      },
      x, target);
}

Tensor GaussianNllLoss(const Tensor& x, const Tensor& target, const Tensor& variance, bool full, double eps,
                       Reduction reduction, Caller caller) {
  const lazy::LossCall call("gaussian_nll_loss", {&x, &target, &variance}, caller);
  call.RequireBroadcast(x, target);
  Tensor spread = variance;
  if (variance.dims() != x.dims()) {
    // A variance with one number per row may lack the last dimension.
    Dims rows = x.dims();
    if (!rows.empty()) rows.pop_back();
    if (variance.dims() == rows) {
      spread = variance.Unsqueeze(-1);
    } else {
      rows.push_back(1);
      call.Require(variance.dims() == rows,
                   "the variance's shape %s is neither the input's shape %s nor one number for each row",
                   lazy::ListText(variance.dims()), lazy::ListText(x.dims()));
    }
  }
  // The gradient passes the bound, as in PyTorch: a variance below it can grow.
  const Tensor missing = ClampMin(eps - spread, 0).Detach();
  spread = spread + missing;
  Tensor loss = 0.5 * (Log(spread) + Square(x - target) / spread);
  if (full) loss = loss + 0.5 * std::log(2 * std::numbers::pi);
  return Reduced(loss, reduction);
}

Tensor MultiMarginLoss(const Tensor& x, const Tensor& target, double p, double margin, const Tensor& weight,
                       Reduction reduction, Caller caller) {
  const lazy::LossCall call("multi_margin_loss", {&x, &target}, caller);
  call.Require(p == 1 || p == 2, "p (%g) is neither 1 nor 2", p);
  call.Require(x.rank() <= 2, "scores are [n, classes] or [classes]");
  const bool single = x.rank() <= 1 && target.numel() == 1 && target.rank() <= 1;
  if (!single) call.RequireClasses(x, target, weight);
  call.CheckClasses(target, x.rank() == 0 ? 1 : x.size(-1));
  return lazy::UnderAutocast(
      "multi_margin_loss",
      [&](const Tensor& x, const Tensor& target, const Tensor& weight) -> Tensor {
        const Tensor scores = AsRows(x), classes = target.Reshape({scores.size(0), 1});
        // There is no gradient at the margin.
        Tensor excess = Relu(margin - Gather(scores, 1, classes) + scores);
        if (p == 2) excess = Square(excess);
        if (weight.defined()) excess = excess * IndexSelect(weight, 0, classes.Reshape({-1})).Unsqueeze(1);
        const Dims last = {1};
        const Tensor others = Sum(Where(Ne(ClassNumbers(scores), classes), excess, 0), last);
        return OfRows(others / scores.size(1), x, reduction);
      },
      x, target, weight);
}

Tensor MultilabelMarginLoss(const Tensor& x, const Tensor& target, Reduction reduction, Caller caller) {
  const lazy::LossCall call("multilabel_margin_loss", {&x, &target}, caller);
  call.RequireSame(x, target);
  call.Require(x.rank() <= 2, "scores are [n, classes] or [classes]");
  call.CheckClasses(target, x.rank() == 0 ? 1 : x.size(-1), -1);
  return lazy::UnderAutocast(
      "multilabel_margin_loss",
      [&](const Tensor& x, const Tensor& target) -> Tensor {
        const Tensor scores = AsRows(x), labels = AsRows(target), positions = ClassNumbers(scores);
        const int64_t count = scores.size(1);
        const Dims last = {-1};
        // The classes are the entries before the first negative one.
        const Tensor end = Amin(Where(Lt(labels, 0), positions, count), last, true);
        const Tensor named = Lt(positions, end);
        // [n, entry, class]: true where the entry names the class.
        const Tensor names = LogicalAnd(Eq(labels.Unsqueeze(2), positions), named.Unsqueeze(2));
        const Dims entries = {1};
        const Tensor is_target = Any(names, entries);
        const Tensor own = Gather(scores, 1, Clamp(labels, Operand(0), Operand(count - 1)));
        const Tensor excess = Relu(1 - (own.Unsqueeze(2) - scores.Unsqueeze(1)));
        const Tensor counted = LogicalAnd(named.Unsqueeze(2), LogicalNot(is_target).Unsqueeze(1));
        const Dims both = {1, 2};
        return OfRows(Sum(Where(counted, excess, 0), both) / count, x, reduction);
      },
      x, target);
}

Tensor MultilabelSoftMarginLoss(const Tensor& x, const Tensor& target, const Tensor& weight,
                                Reduction reduction, Caller caller) {
  const lazy::LossCall call("multilabel_soft_margin_loss", {&x, &target}, caller);
  call.RequireBroadcast(x, target);
  if (weight.defined()) call.RequireBroadcast(x, weight);
  Tensor loss = -(target * Logsigmoid(x) + (1 - target) * Logsigmoid(-x));
  if (weight.defined()) loss = loss * weight;
  const Dims last = {-1};
  return Reduced(Mean(loss, last), reduction);
}

Tensor TripletMarginLoss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                         const TripletOptions& options, Caller caller) {
  const lazy::LossCall call("triplet_margin_loss", {&anchor, &positive, &negative}, caller);
  call.Require(anchor.rank() == positive.rank() && anchor.rank() == negative.rank(),
               "anchor %s, positive %s and negative %s have not one number of dimensions",
               lazy::ListText(anchor.dims()), lazy::ListText(positive.dims()),
               lazy::ListText(negative.dims()));
  call.RequireBroadcast(anchor, positive);
  call.RequireBroadcast(anchor, negative);
  return lazy::UnderAutocast(
      "triplet_margin_loss",
      [&](const Tensor& anchor, const Tensor& positive, const Tensor& negative) -> Tensor {
        const auto distance = [&](const Tensor& x, const Tensor& y) {
          return PairwiseDistance(x, y, options.p, options.eps);
        };
        return TripletMarginWithDistanceLoss(anchor, positive, negative, distance, options);
      },
      anchor, positive, negative);
}

Tensor TripletMarginWithDistanceLoss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                                     const DistanceFunction& distance, const TripletOptions& options,
                                     Caller caller) {
  const lazy::LossCall call("triplet_margin_with_distance_loss", {&anchor, &positive, &negative}, caller);
  const auto between = [&](const Tensor& x, const Tensor& y) {
    return distance ? distance(x, y) : PairwiseDistance(x, y);
  };
  const Tensor near = between(anchor, positive);
  Tensor far = between(anchor, negative);
  if (options.swap) far = Minimum(far, between(positive, negative));
  return Reduced(Clamp(options.margin + near - far, Operand(0)), options.reduction);
}

}  // namespace hlod
