// Random operations are tested by their distributions; losses and norms that PyTorch's table has no samples
// for are compared with values that PyTorch 1.13 computed.
#include <algorithm>
#include <cmath>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

constexpr int64_t kCount = 20'000;

class RandomLayers : public TensorTest {
 protected:
  // Returns the mean and the variance.
  static std::pair<double, double> Moments(const Tensor& x) {
    const Tensor wide = x.To(kF64);
    return {Mean(wide).Item<double>(), Var(wide).Item<double>()};
  }
  static double ZeroShare(const Tensor& x) {
    return static_cast<double>((x.numel() - CountNonzero(x).Item<int64_t>())) /
           static_cast<double>(x.numel());
  }
};

// Returns five standard deviations of the share of n draws with probability p. A share exceeds that once in
// two million times.
double Five(double p, double n) { return 5 * std::sqrt(p * (1 - p) / n); }

TEST_F(RandomLayers, RreluDrawsASlopeForEachElement) {
  for (const Device& where : {Device(), device()}) {
    const Tensor slopes = -Rrelu(-Ones({kCount}, {.device = where}), 0.25, 0.75, true);
    EXPECT_GE(Amin(slopes).Item<float>(), 0.25f);
    EXPECT_LT(Amax(slopes).Item<float>(), 0.75f);
    const auto [mean, variance] = Moments(slopes);
    EXPECT_NEAR(mean, 0.5, 5 * 0.5 / std::sqrt(12.0 * kCount));
    EXPECT_NEAR(variance, 0.25 / 12, 0.001);
    EXPECT_EQ(Rrelu(-Ones({1}, {.device = where}), 0.25, 0.75).Item<float>(), -0.5f);
  }
}

TEST_F(RandomLayers, ChannelDropoutDropsWholeChannels) {
  const Tensor x = Ones({100, 50, 2, 3}, {.device = device()});
  const Tensor dropped = Dropout2d(x, 0.3).Reshape({5000, 6});
  const Dims last = {1};
  const Tensor kept = Sum(Ne(dropped, 0), last);  // Each channel keeps 0 or 6 elements.
  EXPECT_EQ(Sum(LogicalOr(Eq(kept, 0), Eq(kept, 6))).Item<int64_t>(), 5000);
  EXPECT_NEAR(ZeroShare(kept), 0.3, Five(0.3, 5000));
  // Without a batch dimension, the channels are the first dimension.
  const Tensor channels = Dropout3d(Ones({400, 2, 2, 2}), 0.5).Reshape({400, 8});
  EXPECT_EQ(Sum(Eq(Amin(channels, last), Amax(channels, last))).Item<int64_t>(), 400);
}

TEST_F(RandomLayers, AlphaDropoutKeepsMeanAndVariance) {
  const Tensor x = Randn({kCount}, {.device = device()});
  const auto [mean, variance] = Moments(AlphaDropout(x, 0.2));
  EXPECT_NEAR(mean, 0, 0.05);
  EXPECT_NEAR(variance, 1, 0.06);
  EXPECT_EQ(AlphaDropout(x, 0.2, false).ToVector<float>(), x.ToVector<float>());
}

TEST_F(RandomLayers, CtcLossAgreesWithPyTorch) {
  // Log probabilities of 4 steps, 2 sequences and 3 classes; class 0 is the blank.
  const Tensor logits = FromValues<float>({0.5, -1, 2,   1,   0,    -0.5, 1.5, 0.25, -2, 0,    0.75, 1,
                                           -1,  2,  0.5, 0.3, -0.7, 1.1,  2,   0,    1,  -1.5, 0.4,  0.9},
                                          Dims{4, 2, 3});
  for (const Device& where : {Device(), device()}) {
    const Tensor probabilities = LogSoftmax(logits.To(where), 2);
    const Tensor targets = FromValues<int64_t>({1, 2, 2, 2}, Dims{2, 2}, where);
    const std::vector<float> each =
        CtcLoss(probabilities, targets, {4, 3}, {2, 2}, 0, Reduction::kNone).ToVector<float>();
    EXPECT_THAT(each,
                ElementsAre(::testing::FloatNear(3.044055f, 1e-5f), ::testing::FloatNear(4.207396f, 1e-5f)));
    EXPECT_NEAR(CtcLoss(probabilities, targets, {4, 3}, {2, 2}).Item<float>(), 1.812863, 1e-5);
    // Targets concatenated to a vector, with a length per sequence.
    const Tensor joined = FromValues<int64_t>({1, 2, 1}, Dims{3}, where);
    EXPECT_NEAR(CtcLoss(probabilities, joined, {4, 2}, {2, 1}, 0, Reduction::kSum).Item<float>(), 4.089491,
                1e-5);
    // Two equal labels need a blank between them, so two steps are too few.
    EXPECT_TRUE(
        std::isinf(CtcLoss(probabilities, targets, {4, 2}, {2, 2}, 0, Reduction::kSum).Item<float>()));
    EXPECT_NEAR(CtcLoss(probabilities, targets, {4, 2}, {2, 2}, 0, Reduction::kSum, true).Item<float>(),
                3.044055, 1e-5);
  }
}

TEST_F(RandomLayers, InstanceNormFollowsRunningStatistics) {
  Tensor mean = Zeros({1}), var = Ones({1});
  const Tensor x = FromValues<float>({1, 2, 3, 5, 6, 7}, Dims{2, 1, 3});
  InstanceNorm(x, mean, var, {}, {}, true);
  // By hand: means 2 and 6, unbiased variances 1 and 1; the statistics move a tenth of the way from 0 and 1.
  EXPECT_NEAR(mean.Item<float>(), 0.4, 1e-6);
  EXPECT_NEAR(var.Item<float>(), 1, 1e-6);
}

// The unbiased variance of one value would make the running variance NaN for ever.
TEST_F(RandomLayers, InstanceNormRefusesRunningStatisticsOfOneValue) {
  Tensor mean = Zeros({2}), var = Ones({2});
  Throws([&] { InstanceNorm(Ones({3, 2, 1}), mean, var, {}, {}, true); });
  EXPECT_THAT(last_what_,
              HasSubstr("more than one value for each channel of an example; the shape is [3, 2, 1]"));
  EXPECT_THAT(var.ToVector<float>(), ElementsAre(1, 1));
}

TEST_F(RandomLayers, EmbeddingShortensTheRowsItLooksUp) {
  Tensor table = FromValues<float>({3, 4, 30, 40, 0.3, 0.4}, Dims{3, 2}).To(device());
  Embedding(FromValues<int64_t>({0, 2}, {}, device()), table, {.max_norm = MaxNorm{1}});
  const std::vector<float> rows = table.ToVector<float>();
  EXPECT_THAT(rows, ::testing::Pointwise(::testing::FloatNear(1e-5f), {0.6f, 0.8f, 30.f, 40.f, 0.3f, 0.4f}));
}

TEST_F(RandomLayers, LpPoolIsTheRootOfTheSumOfPowers) {
  const Tensor x = FromValues<float>({3, 4, 6, 8}, Dims{1, 1, 4});
  EXPECT_THAT(LpPool1d(x, 2, 2).ToVector<float>(),
              ::testing::Pointwise(::testing::FloatNear(1e-5f), {5.f, 10.f}));
}

TEST_F(RandomLayers, AffineGridOfTheIdentityIsTheImage) {
  const Tensor theta = FromValues<float>({1, 0, 0, 0, 1, 0}, Dims{1, 2, 3}).To(device());
  const Tensor x = Arange(0, 12, 1, {.type = kF32, .device = device()}).Reshape({1, 1, 3, 4});
  for (const bool align : {false, true}) {
    const Tensor grid = AffineGrid(theta, {1, 1, 3, 4}, align);
    const Tensor same = GridSample(x, grid, {.align_corners = align});
    EXPECT_THAT(same.ToVector<float>(),
                ::testing::Pointwise(::testing::FloatNear(1e-4f), x.ToVector<float>()));
  }
}

// The signs of the vectors are free, so they cannot be compared with PyTorch's.
TEST_F(RandomLayers, SingularAndEigenvectorsGiveTheMatrixBack) {
  const Tensor a = Randn({2, 5, 3}, {.device = device()});
  for (const Tensor& x : {a, a.Transpose(1, 2)}) {
    const linalg::SvdParts svd = linalg::Svd(x);
    const Tensor back = MatMul(svd.u * svd.s.Unsqueeze(1), svd.vh);
    EXPECT_LT(Amax(Abs(back - x)).Item<float>(), 1e-5f);
    EXPECT_TRUE(static_cast<bool>(All(Ge(svd.s.Narrow(1, 0, 2), svd.s.Narrow(1, 1, 2)))));
  }
  const Tensor symmetric = MatMul(a.Transpose(1, 2), a) - 2 * Eye(3, {}, {.device = device()});
  const linalg::EighParts eigen = linalg::Eigh(symmetric);
  const Tensor back = MatMul(eigen.vectors * eigen.values.Unsqueeze(1), eigen.vectors.Transpose(1, 2));
  EXPECT_LT(Amax(Abs(back - symmetric)).Item<float>(), 1e-4f);
}

TEST_F(RandomLayers, WindowsAndSizesThatDoNotFitAreRefused) {
  const Tensor x = Ones({1, 1, 4, 4});
  EXPECT_FALSE(Thrown([&] { Interpolate(x, {}); }).ok());
  EXPECT_THAT(last_what_, HasSubstr("either a size or a scale factor"));
  EXPECT_FALSE(Thrown([&] { Interpolate(x, {.scale_factor = {1e-9}}); }).ok());
  EXPECT_THAT(last_what_, HasSubstr("scale factor"));
  EXPECT_FALSE(Thrown([&] { AdaptiveMaxPool2d(Ones({1, 1, 0, 4}), 2); }).ok());
  EXPECT_THAT(last_what_, HasSubstr("no elements"));
  EXPECT_FALSE(Thrown([&] { MaxUnpool2d(x, Zeros({1, 1, 2, 2}, {.type = kS64}), 2); }).ok());
  EXPECT_THAT(last_what_, HasSubstr("indices' shape"));
  EXPECT_FALSE(Thrown([&] { GridSample(x, Ones({1, 2, 2, 3})); }).ok());
  EXPECT_THAT(last_what_, HasSubstr("do not fit"));
  EXPECT_FALSE(Thrown([&] { linalg::Inv(Ones({2, 3})); }).ok());
  EXPECT_THAT(last_what_, HasSubstr("not square"));
  EXPECT_FALSE(Thrown([&] { CtcLoss(Zeros({3, 1, 2}), Zeros({1, 1}, {.type = kS64}), {4}, {1}); }).ok());
  EXPECT_THAT(last_what_, HasSubstr("input length 0 (4)"));
}

}  // namespace
}  // namespace hlod
