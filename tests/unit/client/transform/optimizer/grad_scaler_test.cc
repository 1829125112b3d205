// Gradient scaling, compared with the documented rule of torch.amp.GradScaler with PyTorch's Adam
// (optimizer/torch.json).
#include <fstream>
#include <limits>

#include "hlod/optim/grad_scaler.h"
#include "nlohmann/json.hpp"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class GradScalers : public TensorTest {
 protected:
  Tensor Parameter() { return FromValues<double>({1, -2, .5, 3}, Dims{4}, device()).RequiresGrad_(); }
  // Returns a loss whose gradient is `gradient`.
  Tensor Loss(const Tensor& parameter, const std::vector<double>& gradient) {
    return Sum(parameter * FromValues<double>(gradient, Dims{4}, device()));
  }
  static std::vector<double> GradientOf(int step) {
    static const std::vector<std::vector<double>> gradients = {
        {.5, -1, 2, .1}, {-.3, .8, 1.5, -.2}, {.9, -.1, -1, .4}, {.05, .6, .2, -.7}, {1.2, -.4, -.3, .3}};
    return gradients[step % 5];
  }
};

TEST_F(GradScalers, StepsOfInfiniteGradientsAreSkippedAndTheScaleFollows) {
  const auto wanted = nlohmann::json::parse(
      std::ifstream(SourceDir() / "tests/unit/client/transform/optimizer/torch.json"))["scaled"];
  Tensor a = Parameter(), b = Parameter();
  Adam adam({a, b}, {.lr = .1});
  GradScaler scaler({.init_scale = 1024, .growth_factor = 4, .backoff_factor = .25, .growth_interval = 2});
  std::vector<double> scales, tracks;
  for (int step = 0; step < 8; ++step) {
    adam.ZeroGrad();
    std::vector<double> of_a = GradientOf(step), of_b = GradientOf(step + 1);
    if (step == 1) of_b[2] = kInfinity;
    if (step == 5) of_a[0] = std::numeric_limits<double>::quiet_NaN();
    scaler.Scale(Loss(a, of_a) + Loss(b, of_b)).Backward();
    if (step % 2 == 0) scaler.Unscale_(adam);
    scaler.Step(adam);
    scaler.Update();
    scales.push_back(scaler.GetScale());
    tracks.push_back(scaler.StateDict().at("growth_tracker").Item<double>());
  }
  EXPECT_EQ(scales, wanted["scales"].get<std::vector<double>>());
  EXPECT_EQ(tracks, wanted["tracks"].get<std::vector<double>>());
  for (const auto& [parameter, which] : {std::pair(a, 0), std::pair(b, 1)}) {
    EXPECT_THAT(parameter.Detach().ToVector<double>(),
                Pointwise(DoubleNear(1e-13), wanted["after"][which].get<std::vector<double>>()));
  }
}

TEST_F(GradScalers, AnIterationIsOneProgramAndReadsNothingBack) {
  Tensor parameter = OnDevice({1, 2, 3, 4}, {4}).RequiresGrad_();
  Adam adam({parameter});
  GradScaler scaler({.growth_interval = 2});
  SessionStats before;
  int64_t compiles = 0;
  for (int step = 0; step < 8; ++step) {
    adam.ZeroGrad();
    scaler.Scale(Sum(parameter * parameter)).Backward();
    scaler.Unscale_(adam);
    ClipGradNorm_({parameter}, 1);
    scaler.Step(adam);
    scaler.Update();
    Sync();
    if (step == 2) {
      before = Account();
      compiles = GetTraceStats().compiles;
    }
  }
  EXPECT_EQ(Account().device_to_host, before.device_to_host);
  EXPECT_EQ(Account().executes, before.executes + 5);
  EXPECT_EQ(GetTraceStats().compiles, compiles);
}

TEST_F(GradScalers, TheScaleGoesOnFromAState) {
  Tensor parameter = Parameter();
  Sgd sgd({parameter});
  GradScaler first({.init_scale = 8, .growth_factor = 3, .backoff_factor = .5, .growth_interval = 2});
  const auto step = [&](GradScaler& scaler) {
    sgd.ZeroGrad();
    scaler.Scale(Loss(parameter, GradientOf(0))).Backward();
    scaler.Step(sgd);
    scaler.Update();
  };
  step(first);
  GradScaler second;
  second.LoadStateDict(first.StateDict());
  step(second);
  EXPECT_EQ(second.GetScale(), 24);
  step(second);
  step(second);
  EXPECT_EQ(second.GetScale(), 72);
  second.Update(5.0);
  EXPECT_EQ(second.GetScale(), 5);
  auto less = first.StateDict();
  less.erase("scale");
  Throws([&] { second.LoadStateDict(less); });
  EXPECT_THAT(last_what_, HasSubstr("the state has no scale"));
}

TEST_F(GradScalers, ALossOfF16IsScaledWithoutOverflow) {
  const Tensor loss = OnDevice({20}, {}).To(kF16);
  EXPECT_EQ(GradScaler().Scale(loss).Item<double>(), 20.0 * 65536);
}

TEST_F(GradScalers, ADisabledOneDoesNothing) {
  Tensor parameter = Parameter();
  Sgd sgd({parameter}, {.lr = 1});
  GradScaler scaler({.enabled = false});
  scaler.Scale(Loss(parameter, {1, 2, 3, 4})).Backward();
  scaler.Unscale_(sgd);
  scaler.Step(sgd);
  scaler.Update();
  EXPECT_THAT(parameter.Detach().ToVector<double>(), ElementsAre(0, -4, -2.5, -1));
  EXPECT_EQ(scaler.GetScale(), 1);
  EXPECT_TRUE(scaler.StateDict().empty());
}

TEST_F(GradScalers, WhatPyTorchRefusesIsRefusedAtItsLine) {
  Tensor parameter = Parameter();
  Sgd sgd({parameter});
  GradScaler scaler;
  const auto refused = [&](const std::function<void()>& body) {
    EXPECT_EQ(KindOf(Thrown(body)), ErrorKind::kArgument);
    EXPECT_THAT(last_what_, HasSubstr("grad_scaler_test.cc"));
    return last_what_;
  };
  EXPECT_THAT(refused([] { GradScaler({.growth_factor = 1}); }), HasSubstr("growth_factor is 1"));
  EXPECT_THAT(refused([] { GradScaler({.backoff_factor = 1}); }), HasSubstr("backoff_factor is 1"));
  EXPECT_THAT(refused([&] { scaler.Step(sgd); }), HasSubstr("no loss was scaled"));
  EXPECT_THAT(refused([&] { scaler.Update(); }), HasSubstr("no loss was scaled"));
  const Tensor loss = scaler.Scale(Loss(parameter, {1, 2, 3, 4}));
  EXPECT_THAT(refused([&] { scaler.Update(); }), HasSubstr("no gradients were unscaled"));
  EXPECT_THAT(refused([&] { scaler.Step(sgd); }), HasSubstr("no parameter of this optimizer has a gradient"));
  loss.Backward();
  scaler.Update(1.0);
  scaler.Unscale_(sgd);
  EXPECT_THAT(refused([&] { scaler.Unscale_(sgd); }), HasSubstr("were unscaled since the last Update()"));
  scaler.Step(sgd);
  EXPECT_THAT(refused([&] { scaler.Step(sgd); }), HasSubstr("has made its step since the last Update()"));
  EXPECT_THAT(refused([&] { scaler.Unscale_(sgd); }), HasSubstr("has made its step since the last Update()"));
  Tensor half = OnDevice({1, 2}, {2}).To(kF16).Detach().RequiresGrad_();
  Sgd of_half({half});
  Sum(half * 2).Backward();
  EXPECT_THAT(refused([&] { scaler.Unscale_(of_half); }), HasSubstr("the gradient of parameter 0 is of f16"));
}

}  // namespace
}  // namespace hlod
