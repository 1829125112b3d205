// The formulas of torch.nn.init: bounds and deviations are computed by hand; orthogonality and identities are
// checked by products.
#include "hlod/nn/init.h"

#include <cmath>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Ge;
using ::testing::Le;

class NnInit : public TensorTest {
 protected:
  static double Largest(const Tensor& x) { return Amax(Abs(x)).Item<double>(); }
  static double Deviation(const Tensor& x) { return std::sqrt(Mean(Square(x.To(kF64))).Item<double>()); }
};

TEST_F(NnInit, GainsArePyTorchs) {
  using nn::init::Nonlinearity;
  EXPECT_EQ(nn::init::CalculateGain(Nonlinearity::kLinear), 1);
  EXPECT_NEAR(nn::init::CalculateGain(Nonlinearity::kTanh), 1.6666666666666667, 1e-15);
  EXPECT_NEAR(nn::init::CalculateGain(Nonlinearity::kRelu), 1.4142135623730951, 1e-15);
  EXPECT_NEAR(nn::init::CalculateGain(Nonlinearity::kLeakyRelu, .2), 1.3867504905630728, 1e-15);
  EXPECT_EQ(nn::init::CalculateGain(Nonlinearity::kSelu), .75);
}

// [64, 32, 3, 3] has fan in 288 and fan out 576. The largest of 18,432 draws is near the bound, and the
// deviation is within 3%.
TEST_F(NnInit, FansSayHowLargeValuesAre) {
  for (const bool on_device : {false, true}) {
    Tensor w = Zeros({64, 32, 3, 3});
    if (on_device) w = w.To(device());
    const double xavier = std::sqrt(6.0 / (288 + 576));
    EXPECT_THAT(Largest(nn::init::XavierUniform_(w)), AllOf(Le(xavier * 1.000001), Ge(.99 * xavier)));
    EXPECT_NEAR(Deviation(nn::init::XavierNormal_(w, 2)), 2 * std::sqrt(2.0 / (288 + 576)),
                .03 * 2 * std::sqrt(2.0 / 864));
    const double kaiming = std::sqrt(6.0 / 288);
    EXPECT_THAT(Largest(nn::init::KaimingUniform_(w)), AllOf(Le(kaiming * 1.000001), Ge(.99 * kaiming)));
    EXPECT_NEAR(Deviation(nn::init::KaimingNormal_(
                    w, {.mode = nn::init::Fan::kOut, .nonlinearity = nn::init::Nonlinearity::kRelu})),
                std::sqrt(2.0 / 576), .03 * std::sqrt(2.0 / 576));
  }
  Tensor bias = Zeros({3});
  EXPECT_EQ(Thrown([&] { nn::init::XavierUniform_(bias); }).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(last_what_, HasSubstr("the parameter is f32[3], and must have at least 2 dimensions"));
}

TEST_F(NnInit, ATruncatedNormalStaysWithinItsBounds) {
  Tensor w = Zeros({10'000});
  nn::init::TruncNormal_(w, 1, 2, 0, 4);
  EXPECT_THAT(w.ToVector<float>(), Each(AllOf(Ge(0), Le(4))));
  // The mean of the density between -0.5 and 1.5 deviations is 1 + 2 (phi(-.5) - phi(1.5)) / (Phi(1.5) -
  // Phi(-.5)).
  EXPECT_NEAR(Mean(w).Item<double>(), 1.7125, .03);
}

TEST_F(NnInit, OrthogonalRowsOrColumnsHaveTheGainAsNorm) {
  for (const Dims& dims : {Dims{5, 3}, Dims{3, 5}, Dims{4, 2, 3}}) {
    Tensor w = Zeros(dims);
    nn::init::Orthogonal_(w, 2);
    const Tensor flat = w.Reshape({dims[0], -1});
    const Tensor product = flat.size(0) <= flat.size(1) ? MatMul(flat, flat.T()) : MatMul(flat.T(), flat);
    const Tensor off = product - Eye(product.size(0)) * 4;
    EXPECT_LT(Largest(off), 1e-5) << dims.size();
  }
}

TEST_F(NnInit, IdentitiesKeepWhatTheyAreGiven) {
  Tensor eye = Full({2, 3}, 7.0);
  EXPECT_THAT(nn::init::Eye_(eye).ToVector<float>(), ElementsAre(1, 0, 0, 0, 1, 0));
  Tensor kernel = Full({4, 2, 3}, 7.0);
  nn::init::Dirac_(kernel, 2);
  const Tensor x = Randn({1, 4, 8});
  EXPECT_EQ(Largest(Conv1d(x, kernel, {}, {.padding = 1, .groups = 2}) - x), 0);
}

TEST_F(NnInit, APartOfEachColumnIsZero) {
  Tensor w = Ones({10, 6});
  nn::init::Sparse_(w, .25, 1);
  EXPECT_THAT(Sum(Eq(w, 0), {0}).ToVector<int64_t>(), Each(3)) << "the ceiling of 2.5";
  Throws([&] { nn::init::Sparse_(w, NAN); });
  EXPECT_THAT(last_what_, HasSubstr("sparsity is nan, and must be at least 0 and at most 1"));
}

TEST_F(NnInit, AParameterStaysALeaf) {
  Tensor w = Zeros({2, 2}).RequiresGrad_();
  nn::init::Constant_(w, .5);
  EXPECT_TRUE(w.is_leaf());
  EXPECT_THAT(w.ToVector<float>(), Each(.5F));
}

}  // namespace
}  // namespace hlod
