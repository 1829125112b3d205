// Losses.
#include "tests/unit/client/tensor/operation/bindings.h"

namespace hlod {
namespace {

// Reads `reduction`, or the older `size_average` and `reduce`.
Reduction ReductionOf(Arguments& a) {
  if (a.Has("size_average") || a.Has("reduce")) {
    const bool average = a.Bool("size_average", true), reduce = a.Bool("reduce", true);
    a.Text("reduction", "mean");
    return !reduce ? Reduction::kNone : average ? Reduction::kMean : Reduction::kSum;
  }
  const std::string reduction = a.Text("reduction", "mean");
  if (reduction == "batchmean") return Reduction::kBatchMean;
  return reduction == "sum" ? Reduction::kSum : reduction == "none" ? Reduction::kNone : Reduction::kMean;
}

}  // namespace

std::vector<Binding> MarginLossBindings() {
  return {
      {"nn.functional.cosine_embedding_loss", "input1 input2 target margin size_average reduce reduction",
       [](Arguments& a) {
         return CosineEmbeddingLoss(a.Array("input1"), a.Array("input2"), a.Array("target"),
                                    a.Double("margin", 0), ReductionOf(a));
       }},
      {"nn.functional.kl_div", "input target size_average reduce reduction log_target",
       [](Arguments& a) {
         return KlDiv(a.Array("input"), a.Array("target"), ReductionOf(a), a.Bool("log_target", false));
       }},
      {"nn.functional.gaussian_nll_loss", "input target var full eps reduction",
       [](Arguments& a) {
         return GaussianNllLoss(a.Array("input"), a.Array("target"), a.Array("var"), a.Bool("full", false),
                                a.Double("eps", 1e-6), ReductionOf(a));
       }},
      {"nn.functional.multi_margin_loss", "input target p margin weight size_average reduce reduction",
       [](Arguments& a) {
         return MultiMarginLoss(a.Array("input"), a.Array("target"), a.Double("p", 1), a.Double("margin", 1),
                                a.Array("weight"), ReductionOf(a));
       }},
      {"nn.functional.multilabel_margin_loss", "input target size_average reduce reduction",
       [](Arguments& a) {
         return MultilabelMarginLoss(a.Array("input"), a.Array("target"), ReductionOf(a));
       }},
      {"nn.functional.multilabel_soft_margin_loss", "input target weight size_average reduce reduction",
       [](Arguments& a) {
         return MultilabelSoftMarginLoss(a.Array("input"), a.Array("target"), a.Array("weight"),
                                         ReductionOf(a));
       }},
      {"nn.functional.triplet_margin_loss",
       "anchor positive negative margin p eps swap size_average reduce reduction",
       [](Arguments& a) {
         const TripletOptions options = {.margin = a.Double("margin", 1),
                                         .p = a.Double("p", 2),
                                         .eps = a.Double("eps", 1e-6),
                                         .swap = a.Bool("swap", false),
                                         .reduction = ReductionOf(a)};
         return TripletMarginLoss(a.Array("anchor"), a.Array("positive"), a.Array("negative"), options);
       }},
  };
}

std::vector<Binding> LossBindings() {
  return {
      {"nn.functional.mse_loss", "input target size_average reduce reduction",
       [](Arguments& a) { return MseLoss(a.Array("input"), a.Array("target"), ReductionOf(a)); }},
      {"nn.functional.l1_loss", "input target size_average reduce reduction",
       [](Arguments& a) { return L1Loss(a.Array("input"), a.Array("target"), ReductionOf(a)); }},
      {"nn.functional.smooth_l1_loss", "input target size_average reduce reduction beta",
       [](Arguments& a) {
         return SmoothL1Loss(a.Array("input"), a.Array("target"), a.Double("beta", 1), ReductionOf(a));
       }},
      {"nn.functional.huber_loss", "input target reduction delta",
       [](Arguments& a) {
         return HuberLoss(a.Array("input"), a.Array("target"), a.Double("delta", 1), ReductionOf(a));
       }},
      {"nn.functional.binary_cross_entropy", "input target weight size_average reduce reduction",
       [](Arguments& a) {
         return BinaryCrossEntropy(a.Array("input"), a.Array("target"), a.Array("weight"), ReductionOf(a));
       }},
      {"nn.functional.binary_cross_entropy_with_logits",
       "input target weight size_average reduce reduction pos_weight",
       [](Arguments& a) {
         return BinaryCrossEntropyWithLogits(a.Array("input"), a.Array("target"), a.Array("weight"),
                                             a.Array("pos_weight"), ReductionOf(a));
       }},
      {"nn.functional.soft_margin_loss", "input target size_average reduce reduction",
       [](Arguments& a) { return SoftMarginLoss(a.Array("input"), a.Array("target"), ReductionOf(a)); }},
  };
}

std::vector<Binding> TargetLossBindings() {
  return {
      {"nn.functional.hinge_embedding_loss", "input target margin size_average reduce reduction",
       [](Arguments& a) {
         return HingeEmbeddingLoss(a.Array("input"), a.Array("target"), a.Double("margin", 1),
                                   ReductionOf(a));
       }},
      {"nn.functional.margin_ranking_loss", "input1 input2 target margin size_average reduce reduction",
       [](Arguments& a) {
         return MarginRankingLoss(a.Array("input1"), a.Array("input2"), a.Array("target"),
                                  a.Double("margin", 0), ReductionOf(a));
       }},
      {"nn.functional.poisson_nll_loss", "input target log_input full size_average eps reduce reduction",
       [](Arguments& a) {
         return PoissonNllLoss(a.Array("input"), a.Array("target"), a.Bool("log_input", true),
                               a.Bool("full", false), a.Double("eps", 1e-8), ReductionOf(a));
       }},
      {"nn.functional.ctc_loss",
       "log_probs targets input_lengths target_lengths blank reduction zero_infinity",
       [](Arguments& a) {
         const auto lengths = [&](const char* name) {
           const Dims given = a.Ints(name);
           return std::vector<int64_t>(given.begin(), given.end());
         };
         return CtcLoss(a.Array("log_probs"), a.Array("targets"), lengths("input_lengths"),
                        lengths("target_lengths"), a.Int("blank", 0), ReductionOf(a),
                        a.Bool("zero_infinity", false));
       }},
      {"nn.functional.cosine_similarity", "x1 x2 dim eps",
       [](Arguments& a) {
         return CosineSimilarity(a.Array("x1"), a.Array("x2"), a.Int("dim", 1), a.Double("eps", 1e-8));
       }},
      {"nn.functional.nll_loss", "input target weight size_average ignore_index reduce reduction",
       [](Arguments& a) {
         return NllLoss(a.Array("input"), a.Array("target"), a.Array("weight"), a.Int("ignore_index", -100),
                        ReductionOf(a));
       }},
      {"nn.functional.cross_entropy",
       "input target weight size_average ignore_index reduce reduction label_smoothing",
       [](Arguments& a) {
         return CrossEntropy(a.Array("input"), a.Array("target"), a.Array("weight"),
                             a.Int("ignore_index", -100), a.Double("label_smoothing", 0), ReductionOf(a));
       }},
  };
}

}  // namespace hlod
