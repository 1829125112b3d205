// Losses, windows and normalisations at edges. layers.py has the same programs, by the same names, which
// PyTorch ran or refused.
#include <cmath>

#include "tests/unit/client/tensor/edges/edges.h"

namespace hlod {
namespace {

Results CrossEntropyOfIgnored(const Device& d) {
  const Tensor x = LeafOf(d, {1, 2, -1, 0, 0, 0, 3, 1, 2}, {3, 3}), t = Indices(d, {2, -100, 0}, {3}),
               w = Values(d, {1, 2, 0.5}, {3});
  const Tensor none = Indices(d, {-100, -100, -100}, {3});
  Results y = {CrossEntropy(x, t), CrossEntropy(x, t, w), CrossEntropy(x, t, w, -100, 0.2),
               CrossEntropy(x, Indices(d, {2, 1, 0}, {3}), w, 2, 0.1, Reduction::kSum)};
  (y[0] + y[1] + y[2] + y[3]).Backward();
  y.push_back(CrossEntropy(x, none));
  y.push_back(CrossEntropy(x, none, {}, -100, 0, Reduction::kSum));
  y.push_back(x.Grad());
  return y;
}

Results CrossEntropyOfProbabilities(const Device& d) {
  const Tensor x = LeafOf(d, {1, 2, -1, 0, 0, 0}, {2, 3}),
               p = LeafOf(d, {0.5, 0.5, 0, 0.2, 0.3, 0.5}, {2, 3}), w = Values(d, {1, 2, 0.5}, {3});
  const Tensor y = CrossEntropy(x, p, w, -100, 0.1), z = CrossEntropy(x, p, {}, -100, 0, Reduction::kNone);
  BackwardOf(z + y, d);
  return {y, z, x.Grad(), p.Grad()};
}

Results CrossEntropyOfImages(const Device& d) {
  const Tensor x = Leaf(d, {1, 3, 2, 2}), t = Indices(d, {0, -100, 2, 1}, {1, 2, 2}),
               w = Values(d, {1, 0, 0}, {3});
  const Tensor y = CrossEntropy(x * x, t, {}, -100, 0, Reduction::kNone);
  BackwardOf(y, d);
  return {y, NllLoss(x, t, w), NllLoss(x.Select(3, 0).Select(2, 0), Indices(d, {1}, {1}), w), x.Grad()};
}

Results KlOfZeros(const Device& d) {
  const Tensor x = LeafOf(d, {-1, -2, -0.5, -3}, {2, 2}), t = LeafOf(d, {0, 1, 0.5, 0.5}, {2, 2});
  const Tensor y = KlDiv(x, t, Reduction::kBatchMean), z = KlDiv(x, Log(t.Detach()), Reduction::kNone, true);
  y.Backward();
  return {y, z, KlDiv(x, t), x.Grad(), t.Grad()};
}

Results BinaryCrossEntropyAtItsEnds(const Device& d) {
  const Tensor x = LeafOf(d, {0, 1, 0, 1, 0.5}, {5}), t = Values(d, {0, 1, 1, 0, 0.5}, {5});
  const Tensor y = BinaryCrossEntropy(x, t, {}, Reduction::kNone);
  BackwardOf(y, d);
  const Tensor z = LeafOf(d, {0, 1000, -1000, 3}, {4});
  const Tensor v =
      BinaryCrossEntropyWithLogits(z, Values(d, {1, 0, 1, 0.5}, {4}), Values(d, {1, 2, 3, 4}, {4}),
                                   Values(d, {2, 1, 1, 3}, {4}), Reduction::kNone);
  BackwardOf(v, d);
  return {y, v, x.Grad(), z.Grad()};
}

Results LossesAtTheirKinks(const Device& d) {
  const Tensor x = LeafOf(d, {0, 1, -1, 2, 0.5}, {5}), t = Values(d, {0, 0, 0, 0, 0}, {5});
  const Reduction none = Reduction::kNone;
  Results y = {SmoothL1Loss(x, t, 1, none),
               SmoothL1Loss(x, t, 0, none),
               HuberLoss(x, t, 0.5, none),
               L1Loss(x, t, none),
               SoftMarginLoss(x * 1000, t + 1, none),
               HingeEmbeddingLoss(x, Values(d, {1, -1, -1, -1, 1}, {5}), 1, none),
               MarginRankingLoss(x, t, t + 1, 1, none)};
  BackwardOf(SumOf(y), d);
  y.push_back(x.Grad());
  return y;
}

Results OtherLosses(const Device& d) {
  const Tensor x = LeafOf(d, {0, 1, -1, 2, 0.5}, {5}), t = Values(d, {0, 1, 3, 0.5, 2}, {5});
  const Reduction none = Reduction::kNone;
  Results y = {PoissonNllLoss(x, t, true, false, 1e-8, none),
               PoissonNllLoss(Abs(x), t, false, true, 1e-8, none),
               GaussianNllLoss(x, t, t * t, true, 1e-6, none), MseLoss(x, t, none)};
  BackwardOf(SumOf(y), d);
  y.push_back(x.Grad());
  return y;
}

Results SimilaritiesOfZeros(const Device& d) {
  const Tensor x = LeafOf(d, {0, 0, 1, 2, 3, 4}, {3, 2}), t = LeafOf(d, {1, 2, 1, 2, 0, 0}, {3, 2}),
               y = CosineSimilarity(x, t);
  BackwardOf(y, d);
  const Tensor u = LeafOf(d, {1, 1, 1, 2}, {2, 2}), v = LeafOf(d, {1, 1, 3, 4}, {2, 2}),
               z = PairwiseDistance(u, v);
  BackwardOf(z, d);
  const Tensor w = TripletMarginLoss(u, v, u.Detach() + 1, {.swap = true, .reduction = Reduction::kNone});
  return {y, z, w, x.Grad(), t.Grad(), u.Grad(), v.Grad()};
}

Results MarginsOfClasses(const Device& d) {
  const Tensor x = LeafOf(d, {0.1, 0.2, 0.4, 0.8, 1, 0, 0, 1}, {2, 4});
  const Tensor y =
      MultiMarginLoss(x, Indices(d, {3, 0}, {2}), 2, 0.5, Values(d, {1, 2, 3, 4}, {4}), Reduction::kNone);
  const Tensor z = MultilabelMarginLoss(x, Indices(d, {3, 0, -1, 1, -1, 0, 0, 0}, {2, 4}), Reduction::kNone);
  const Tensor w =
      MultilabelSoftMarginLoss(x, Values(d, {0, 1, 1, 0, 1, 0, 0, 1}, {2, 4}), {}, Reduction::kNone);
  BackwardOf(y + z + w, d);
  return {y, z, w, x.Grad()};
}

Results MaxPoolOfTiesAndNan(const Device& d) {
  const Tensor x = LeafOf(d, {1, 1, kNaN, 2, 2, 2, 3, 1, 3, 3, 0, 0, 5, 5, 1}, {1, 3, 5});
  const auto [y, i] = MaxPool1dWithIndices(x, 3, {.stride = 2, .padding = 1, .ceil_mode = true});
  BackwardOf(NanToNum(y), d);
  return {y, i, x.Grad()};
}

Results PoolsThatReachBeyond(const Device& d) {
  const Tensor x = Leaf(d, {1, 1, 4, 5});
  Results y = {MaxPool2d(x, 2, {.stride = 3, .padding = 1, .ceil_mode = true}),
               MaxPool2d(x, {3, 2}, {.dilation = {1, 2}}),
               AvgPool2d(x, 3, {.stride = 2, .padding = 1, .ceil_mode = true}),
               AvgPool2d(x, 3, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false}),
               AvgPool2d(x, 2, {.divisor = 3}),
               AvgPool2d(x, {2, 4}, {.ceil_mode = true})};
  for (const Tensor& z : y) BackwardOf(z, d);
  y.push_back(x.Grad());
  return y;
}

Results PoolsOfUnevenParts(const Device& d) {
  const Tensor x = Leaf(d, {1, 2, 7}), y = AdaptiveAvgPool1d(x, 3), z = AdaptiveAvgPool1d(x, 9);
  const auto [v, i] = AdaptiveMaxPool1d(x, 4);
  BackwardOf(y, d);
  BackwardOf(z, d);
  BackwardOf(v, d);
  const auto [m, n] = MaxPool1dWithIndices(x, 2);
  return {y,
          z,
          v,
          i,
          LpPool1d(x - 8, 3, 2, {.ceil_mode = true}),
          MaxUnpool1d(m, n, 2, {.output_size = {7}}),
          x.Grad()};
}

Results PowerPoolsAtZero(const Device& d) {
  const Tensor x = LeafOf(d, {0, 0, 3, -4}, {1, 1, 4}), y = LpPool1d(x, 2, 2);
  BackwardOf(y, d);
  return {y, x.Grad()};
}

Results ConvolutionsAtTheirBorders(const Device& d) {
  const Tensor x = Leaf(d, {1, 2, 5}), k = Leaf(d, {2, 2, 2});
  Results y = {Conv1d(x, k, {}, {.padding = "same"}),
               Conv1d(x, k, {}, {.stride = 3, .padding = 2, .dilation = 2}),
               Conv1d(x, k.Slice(1, 0, 1), {}, {.padding = "valid", .groups = 2}),
               Conv1d(x, k, {}, {.padding = "same", .dilation = 3}),
               ConvTranspose1d(x, k, {}, {.stride = 3, .padding = 2, .output_padding = 1, .dilation = 2}),
               Conv1d(x, k, {}, {.padding = 6})};
  for (const Tensor& z : y) BackwardOf(z, d);
  y.push_back(x.Grad());
  y.push_back(k.Grad());
  return y;
}

Results ConvolutionsOfNone(const Device& d) {
  const Tensor x = Leaf(d, {0, 2, 5}), k = Leaf(d, {2, 2, 2}), y = Conv1d(x, k);
  Sum(y).Backward();
  return {y, k.Grad(), x.Grad()};
}

Results AKernelLargerThanItsInput(const Device& d) {
  return {Conv1d(Ramp(d, {1, 1, 2}), Ramp(d, {1, 1, 3}))};
}

Results Paddings(const Device& d) {
  const Tensor x = Leaf(d, {1, 2, 3});
  Results y = {Pad(x, {2, 2}, PadMode::kReflect),    Pad(x, {3, 1}, PadMode::kCircular),
               Pad(x, {4, 0}, PadMode::kReplicate),  Pad(x, {-1, 2, 1, -1}, PadMode::kConstant, 7.0),
               Pad(x, {-1, 2}, PadMode::kReplicate), Pad(x, {2, -1}, PadMode::kReflect)};
  for (const Tensor& z : y) BackwardOf(z, d);
  y.push_back(x.Grad());
  return y;
}

Results AReflectionAsWideAsItsInput(const Device& d) {
  return {Pad(Ramp(d, {1, 1, 3}), {3, 0}, PadMode::kReflect)};
}

Results ColumnsAndBack(const Device& d) {
  const Tensor x = Leaf(d, {1, 1, 4, 5});
  const UnfoldOptions how = {.dilation = {2, 1}, .padding = {1, 0}, .stride = {1, 2}};
  const Tensor y = Unfold(x, {2, 3}, how), z = Fold(y, {4, 5}, {2, 3}, how);
  BackwardOf(z, d);
  return {y, z, x.Grad()};
}

Results InterpolationsOfALine(const Device& d) {
  using enum InterpolationMode;
  const Tensor x = LeafOf(d, {1, 5, 2, 8}, {1, 1, 4});
  Results y = {Interpolate(x, {.scale_factor = {1.6}}),
               Interpolate(x, {.size = 3, .mode = kNearestExact}),
               Interpolate(x, {.size = 7, .mode = kLinear, .align_corners = true}),
               Interpolate(x, {.size = 1, .mode = kLinear, .align_corners = true}),
               Interpolate(x, {.scale_factor = {1.6}, .mode = kLinear}),
               Interpolate(x, {.scale_factor = {1.6}, .mode = kLinear, .recompute_scale_factor = true}),
               Interpolate(x, {.size = 3, .mode = kArea}),
               Interpolate(x, {.size = 9, .mode = kLinear})};
  for (const Tensor& z : y) BackwardOf(z, d);
  y.push_back(x.Grad());
  return y;
}

Results InterpolationsOfAnImage(const Device& d) {
  using enum InterpolationMode;
  const Tensor x = Leaf(d, {1, 1, 3, 4});
  Results y = {Interpolate(x * x, {.size = Sizes{2, 7}, .mode = kBicubic}),
               Interpolate(x, {.size = Sizes{5, 2}, .mode = kBicubic, .align_corners = true}),
               Interpolate(x, {.size = Sizes{1, 9}, .mode = kLinear}),
               Interpolate(x, {.scale_factor = {0.5, 1.3}, .mode = kLinear})};
  for (const Tensor& z : y) BackwardOf(z, d);
  y.push_back(x.Grad());
  return y;
}

Results SamplesOfAGrid(const Device& d) {
  const Tensor x = Leaf(d, {1, 1, 2, 3}),
               g = LeafOf(d, {-1, -1, 0, 0, 1.2, -1.7, 3, 0.5, 0.25, -0.25, -2.6, 1}, {1, 2, 3, 2});
  Results y;
  for (const GridMode m : {GridMode::kBilinear, GridMode::kNearest, GridMode::kBicubic}) {
    for (const GridPadding p : {GridPadding::kZeros, GridPadding::kBorder, GridPadding::kReflection}) {
      for (const bool align : {true, false}) y.push_back(GridSample(x, g, {m, p, align}));
    }
  }
  for (const Tensor& z : y) BackwardOf(z, d);
  y.push_back(x.Grad());
  y.push_back(g.Grad());
  return y;
}

Results NormalisationsInTraining(const Device& d) {
  const Tensor x = LeafOf(d, {1, 2, 4, 8, 3, 3, 3, 3}, {2, 2, 2}), w = LeafOf(d, {2, 3}, {2}),
               b = LeafOf(d, {0.5, -1}, {2});
  const Tensor m = Values(d, {0.1, 0.2}, {2}), v = Values(d, {1, 2}, {2});
  const Tensor y = BatchNorm(x, m, v, w, b, true, 0.3);
  BackwardOf(y * y, d);
  return {y, m, v, x.Grad(), w.Grad(), b.Grad()};
}

Results NormalisationsByRunningValues(const Device& d) {
  const Tensor x = LeafOf(d, {1, 2, 4, 8}, {2, 2}), w = LeafOf(d, {2, 3}, {2}),
               m = Values(d, {0.1, 0.2}, {2}), v = Values(d, {1, 0}, {2});
  const Tensor y = BatchNorm(x, m, v, w);
  BackwardOf(y, d);
  return {y, m, v, x.Grad(), w.Grad()};
}

Results ABatchOfOneValue(const Device& d) {
  return {BatchNorm(Ramp(d, {1, 2}), Ramp(d, {2}), Ramp(d, {2}), {}, {}, true)};
}

Results AnInstanceOfOneValue(const Device& d) { return {InstanceNorm(Ramp(d, {1, 2, 1}))}; }

Results OtherNormalisations(const Device& d) {
  const Tensor x = LeafOf(d, {1, 2, 4, 8, 3, 3, 3, 3}, {2, 4}), w = LeafOf(d, {1, 2, 3, 4}, {4});
  Results y = {LayerNorm(x, {4}, w),
               LayerNorm(x, {2, 4}),
               GroupNorm(x, 2, w),
               RmsNorm(x, {4}, w),
               Normalize(x * 0),
               LocalResponseNorm(x.Reshape({1, 4, 2}), 2).Reshape({2, 4}),
               LayerNorm(Ramp(d, {2, 4}) * 0, {4})};
  for (size_t i = 0; i < 4; ++i) BackwardOf(y[i], d);
  for (const Tensor& z : {LayerNorm(Ramp(d, {0, 4}), {4}), x.Grad(), w.Grad()}) y.push_back(z);
  return y;
}

}  // namespace

Programs Layers() {
  return {
      {"cross_entropy_of_ignored", CrossEntropyOfIgnored},
      {"cross_entropy_of_probabilities", CrossEntropyOfProbabilities},
      {"cross_entropy_of_images", CrossEntropyOfImages},
      {"kl_of_zeros", KlOfZeros},
      {"binary_cross_entropy_at_its_ends", BinaryCrossEntropyAtItsEnds},
      {"losses_at_their_kinks", LossesAtTheirKinks},
      {"other_losses", OtherLosses},
      {"similarities_of_zeros", SimilaritiesOfZeros},
      {"margins_of_classes", MarginsOfClasses},
      {"max_pool_of_ties_and_nan", MaxPoolOfTiesAndNan},
      {"pools_that_reach_beyond", PoolsThatReachBeyond},
      {"pools_of_uneven_parts", PoolsOfUnevenParts},
      {"power_pools_at_zero", PowerPoolsAtZero},
      {"convolutions_at_their_borders", ConvolutionsAtTheirBorders},
      {"convolutions_of_none", ConvolutionsOfNone},
      {"a_kernel_larger_than_its_input", AKernelLargerThanItsInput},
      {"paddings", Paddings},
      {"a_reflection_as_wide_as_its_input", AReflectionAsWideAsItsInput},
      {"columns_and_back", ColumnsAndBack},
      {"interpolations_of_a_line", InterpolationsOfALine},
      {"interpolations_of_an_image", InterpolationsOfAnImage},
      {"samples_of_a_grid", SamplesOfAGrid},
      {"normalisations_in_training", NormalisationsInTraining},
      {"normalisations_by_running_values", NormalisationsByRunningValues},
      {"a_batch_of_one_value", ABatchOfOneValue},
      {"an_instance_of_one_value", AnInstanceOfOneValue},
      {"other_normalisations", OtherNormalisations},
  };
}

}  // namespace hlod
