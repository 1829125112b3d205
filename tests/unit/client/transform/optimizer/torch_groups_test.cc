// Parameter groups, Rprop, ASGD, and refused arguments, as in PyTorch. Expected values are PyTorch's
// (optimizer/torch.json).
#include <fstream>
#include <limits>

#include "nlohmann/json.hpp"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

const nlohmann::json& Torch() {
  static const auto* const torch = new nlohmann::json(
      nlohmann::json::parse(std::ifstream(SourceDir() / "tests/unit/client/transform/optimizer/torch.json")));
  return *torch;
}

class TorchGroups : public TensorTest {
 protected:
  Tensor Parameter() { return FromValues<double>({1, -2, .5, 3}, Dims{4}, device()).RequiresGrad_(); }
  // Sets the gradient of `parameter` to the fixed one of a step.
  void SetGradient(Tensor& parameter, int step) {
    static const std::vector<std::vector<double>> gradients = {
        {.5, -1, 2, .1}, {-.3, .8, 1.5, -.2}, {.9, -.1, -1, .4}, {.05, .6, .2, -.7}, {1.2, -.4, -.3, .3}};
    parameter.ZeroGrad();
    parameter.Backward({.gradient = FromValues<double>(gradients[step % 5], Dims{4}, device())});
  }
  static void ExpectNear(const Tensor& tensor, const nlohmann::json& wanted, const std::string& what,
                         double tolerance = 1e-13) {
    EXPECT_THAT(tensor.Detach().ToVector<double>(),
                Pointwise(DoubleNear(tolerance), wanted.get<std::vector<double>>()))
        << what;
  }
  // Returns the text of the error that `body` throws, which must name this file's line.
  std::string Refused(const std::function<void()>& body) {
    EXPECT_EQ(KindOf(Thrown(body)), ErrorKind::kArgument);
    EXPECT_THAT(last_what_, HasSubstr("torch_groups_test.cc"));
    return last_what_;
  }
};

TEST_F(TorchGroups, RpropAndAsgdGivePyTorchsParameters) {
  const auto check = [&](const char* name, auto optimizer, Tensor& parameter, double tolerance) {
    const nlohmann::json& wanted = Torch()["steps"][name];
    for (int step = 0; step < wanted["steps"].get<int>(); ++step) {
      SetGradient(parameter, step);
      optimizer.Step();
    }
    ExpectNear(parameter, wanted["after"], name, tolerance);
    if constexpr (std::is_same_v<decltype(optimizer), Asgd>) {
      ExpectNear(optimizer.Average(0), wanted["average"], name, tolerance);
    }
  };
  Tensor p = Parameter();
  check("rprop", Rprop({p}, {.lr = .1}), p, 1e-13);
  p = Parameter();
  check("rprop_options",
        Rprop({p}, {.lr = .05, .eta_minus = .3, .eta_plus = 1.6, .step_min = .02, .step_max = .11}), p,
        1e-13);
  // PyTorch keeps the rate in f32, hence the tolerance.
  p = Parameter();
  check("asgd", Asgd({p}, {.lr = .1}), p, 1e-7);
  p = Parameter();
  check("asgd_averaged", Asgd({p}, {.lr = .1, .lambd = 1e-2, .alpha = .6, .t0 = 4, .weight_decay = .01}), p,
        1e-7);
}

TEST_F(TorchGroups, AdamWDecaysByPyTorchsDefaultWhateverElseIsGiven) {
  Tensor w = OnDevice({1}, {1}).RequiresGrad_();
  EXPECT_EQ(AdamW({w}, {.lr = 1e-3}).options().weight_decay, 1e-2);
  EXPECT_EQ(Adam({w}, {.lr = 1e-3}).options().weight_decay, 0);
}

TEST_F(TorchGroups, EachGroupHasItsSettingsAndItsRates) {
  Tensor a = Parameter(), b = Parameter(), c = Parameter();
  AdamW adam({{{a}, {.lr = .1, .beta1 = .8, .beta2 = .9, .weight_decay = .1}},
              {{b}, {.lr = .02, .weight_decay = 1e-2}}},
             {.lr = .1, .weight_decay = 1e-2});
  EXPECT_EQ(adam.group_count(), 2);
  const auto train = [&](const char* name, LrScheduler scheduler) {
    const auto wanted = Torch()["groups"]["rates"][name].get<std::vector<std::vector<double>>>();
    for (int step = 0; step < 4; ++step) {
      SetGradient(a, step);
      SetGradient(b, step);
      adam.Step();
      scheduler.Step();
      EXPECT_DOUBLE_EQ(scheduler.last_rate(0), wanted[step][0]) << name;
      EXPECT_DOUBLE_EQ(scheduler.last_rate(1), wanted[step][1]) << name;
    }
  };
  train("exponential", ExponentialLr(adam, .9));
  adam.SetLearningRate(.1, 0);
  adam.SetLearningRate(.02, 1);
  train("lambda", LambdaLr(adam, {[](int64_t epoch) { return 1.0 / (1 + static_cast<double>(epoch)); },
                                  [](int64_t epoch) { return std::pow(.5, epoch); }}));
  adam.AddParamGroup({c}, {.lr = .3, .eps = 1e-3, .weight_decay = 1e-2});
  const auto state = adam.StateDict();
  std::vector<Tensor> copies;
  for (const Tensor& each : {a, b, c}) copies.push_back(each.Detach().Clone().RequiresGrad_());
  const auto finish = [&](AdamW& optimizer, std::vector<Tensor> parameters, const char* what) {
    for (int step = 0; step < 3; ++step) {
      for (Tensor& parameter : parameters) SetGradient(parameter, step);
      optimizer.Step();
    }
    for (size_t i = 0; i < 3; ++i) ExpectNear(parameters[i], Torch()["groups"]["after"][i], what);
  };
  finish(adam, {a, b, c}, "trained through");
  // The settings and moments of every group come from the state.
  AdamW loaded(std::vector<ParamGroup<AdamWOptions>>{{{copies[0]}}, {{copies[1]}}, {{copies[2]}}});
  loaded.LoadStateDict(state);
  EXPECT_EQ(loaded.options(0).beta1, .8);
  EXPECT_EQ(loaded.learning_rate(2), .3);
  finish(loaded, copies, "from a state");
}

TEST_F(TorchGroups, GroupsMayBeBracedTensors) {
  Tensor a = Parameter(), b = Parameter();
  EXPECT_EQ(Adam({{{a}}, {{b}}}).group_count(), 2);
  EXPECT_EQ(Adam({{{a, b}}}).group_count(), 1);
  EXPECT_EQ(Adam({a, b}).group_count(), 1);
  EXPECT_EQ(Sgd({{{a}, {.lr = 1}}, {{b}}}, {.lr = 2}).learning_rate(0), 1);
  EXPECT_EQ(Asgd({{{a}}, {{b}}}, {.lr = 2}).learning_rate(1), 2);
}

TEST_F(TorchGroups, APlateauReducesTheRateOfEachGroup) {
  Sgd sgd({{{Parameter()}}, {{Parameter()}, {.lr = .06}}}, {.lr = .5});
  ReduceLrOnPlateau scheduler(sgd, {.patience = 1, .min_rate = .005});
  const std::vector<double> metrics = {1, .9, .95, .95, .95, .8, .8, .8, .8, .8};
  for (size_t i = 0; i < metrics.size(); ++i) {
    scheduler.Step(metrics[i]);
    EXPECT_DOUBLE_EQ(scheduler.last_rate(0), Torch()["plateau"][i][0].get<double>()) << i;
    EXPECT_DOUBLE_EQ(scheduler.last_rate(1), Torch()["plateau"][i][1].get<double>()) << i;
  }
}

TEST_F(TorchGroups, SequentialStartsEachGroupAtItsOwnRate) {
  Sgd sgd({{{Parameter()}, {.lr = .4}}, {{Parameter()}, {.lr = .2}}});
  LrScheduler scheduler = SequentialLr(sgd, {ConstantLr(sgd, .5, 9), ExponentialLr(sgd, .1)}, {1});
  EXPECT_DOUBLE_EQ(scheduler.last_rate(0), .2);
  EXPECT_DOUBLE_EQ(scheduler.last_rate(1), .1);
  scheduler.Step();
  scheduler.Step();
  EXPECT_DOUBLE_EQ(scheduler.last_rate(0), .04);
  EXPECT_DOUBLE_EQ(scheduler.last_rate(1), .02);
}

TEST_F(TorchGroups, StatesOfOtherGroupsAreRefused) {
  const std::vector<Tensor> first = {Parameter()}, second = {Parameter()};
  Sgd two({{first}, {second}});
  Tensor a = Parameter(), b = Parameter();
  Sgd one({a, b});
  EXPECT_THAT(Refused([&] { one.LoadStateDict(two.StateDict()); }),
              HasSubstr("its group 0 has 1 parameters, here 2"));
  EXPECT_THAT(Refused([&] { two.LoadStateDict(one.StateDict()); }), HasSubstr("missing groups.1.lr"));
}

TEST_F(TorchGroups, SettingsChangeBetweenStepsUnlessOthersAreRemembered) {
  Tensor p = Parameter();
  Sgd sgd({p}, {.lr = .1});
  SetGradient(p, 0);
  sgd.Step();
  sgd.SetOptions({.lr = .1, .weight_decay = .5});
  SetGradient(p, 1);
  sgd.Step();
  // By hand: [.95, -1.9, .3, 2.99] - .1 (g + .5 p).
  ExpectNear(p, {.9325, -1.885, .135, 2.8605}, "decayed");
  EXPECT_THAT(Refused([&] { sgd.SetOptions({.momentum = .9}); }), HasSubstr("something else is remembered"));
  EXPECT_EQ(sgd.options().weight_decay, .5);
}

// The moved parameters are the same objects, as in PyTorch.
TEST_F(TorchGroups, AnOptimizerMadeBeforeToTrainsOn) {
  struct Model : nn::Module {
    nn::Linear a{*this, "a", 3, 1};
  } model;
  Sgd early(model.Parameters(), {.lr = .1});
  const Tensor outside = model.a.weight;
  const uint64_t id = outside.id();
  const std::vector<float> before = outside.ToVector<float>();
  model.To(device());
  EXPECT_EQ(outside.id(), id);
  EXPECT_EQ(outside.device(), device());
  EXPECT_TRUE(outside.requires_grad());
  const auto loss = [&] { return Sum(model.a(Ones({2, 3}, {.device = device()}))); };
  loss().Backward();
  early.Step();
  for (size_t i = 0; i < 3; ++i) EXPECT_FLOAT_EQ(outside.ToVector<float>()[i], before[i] - .1f * 2);
  Lbfgs closures(model.Parameters());
  model.To(kF64);
  EXPECT_EQ(outside.Grad().dtype(), kF64);  // The gradient is converted with its parameter.
  const double high = Sum(model.a(Ones({2, 3}, {.type = kF64, .device = device()}))).Item<double>();
  closures.Step([&] {
    closures.ZeroGrad();
    Tensor value = Sum(model.a(Ones({2, 3}, {.type = kF64, .device = device()})));
    value.Backward();
    return value;
  });
  EXPECT_LT(Sum(model.a(Ones({2, 3}, {.type = kF64, .device = device()}))).Item<double>(), high);
}

// A weight of two modules is one tensor: what moves it in one moves it in the other.
TEST_F(TorchGroups, AParameterOfTwoModulesMovesInBoth) {
  struct Model : nn::Module {
    nn::Linear a{*this, "a", 3, 1};
  } model;
  struct Copy : nn::Module {
    explicit Copy(const Tensor& shared) : weight(shared) { RegisterParameter("weight", weight); }
    Tensor weight;
  } copy(model.a.weight);
  int hooked = 0;
  const GradHookHandle hook = model.a.weight.RegisterHook([&](Tensor&) { ++hooked; });
  copy.To(device());
  EXPECT_EQ(model.a.weight.device(), device());
  model.To(device());  // The bias.
  Sgd sgd({model.a.weight}, {.lr = .1});
  const float before = copy.weight.Detach().ToVector<float>()[0];
  Sum(model.a(Ones({2, 3}, {.device = device()}))).Backward();
  EXPECT_EQ(hooked, 1);
  sgd.Step();
  EXPECT_FLOAT_EQ(copy.weight.Detach().ToVector<float>()[0], before - .1f * 2);
}

TEST_F(TorchGroups, WhatPyTorchRefusesIsRefusedAtItsLine) {
  const std::vector<Tensor> p = {Parameter()};
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(Refused([&] { Sgd(p, {.lr = -1}); }), HasSubstr("lr is -1, and must be at least 0"));
  EXPECT_THAT(Refused([&] { Sgd(p, {.momentum = -.5}); }), HasSubstr("momentum is -0.5"));
  EXPECT_THAT(Refused([&] { Adam(p, {.lr = kNan}); }), HasSubstr("lr is nan"));
  EXPECT_THAT(Refused([&] { Adam(p, {.beta1 = 1}); }),
              HasSubstr("beta1 is 1, and must be at least 0 and below 1"));
  EXPECT_THAT(Refused([&] { AdamW(p, {.beta2 = -.1}); }), HasSubstr("beta2 is -0.1"));
  EXPECT_THAT(Refused([&] { AdamW(p, {.eps = -1e-8}); }), HasSubstr("eps is -1e-08"));
  EXPECT_THAT(Refused([&] { RmsProp(p, {.alpha = -1}); }), HasSubstr("alpha is -1"));
  EXPECT_THAT(Refused([&] { Adagrad(p, {.lr_decay = -1}); }), HasSubstr("lr_decay is -1"));
  EXPECT_THAT(Refused([&] { Adadelta(p, {.rho = 1.1}); }),
              HasSubstr("rho is 1.1, and must be at least 0 and at most 1"));
  EXPECT_THAT(Refused([&] { Adamax(p, {.weight_decay = -1}); }), HasSubstr("weight_decay is -1"));
  EXPECT_THAT(Refused([&] { NAdam(p, {.momentum_decay = -1}); }), HasSubstr("momentum_decay is -1"));
  EXPECT_THAT(Refused([&] { RAdam(p, {.beta1 = 2}); }), HasSubstr("beta1 is 2"));
  EXPECT_THAT(Refused([&] { Rprop(p, {.eta_minus = 1}); }),
              HasSubstr("eta_minus is 1, and must be above 0 and below 1"));
  EXPECT_THAT(Refused([&] { Rprop(p, {.eta_plus = 1}); }), HasSubstr("eta_plus is 1, and must be above 1"));
  EXPECT_THAT(Refused([&] { Asgd(p, {.lr = -1}); }), HasSubstr("lr is -1"));
  Adam adam(p);
  EXPECT_THAT(Refused([&] { adam.AddParamGroup({Parameter()}, {.lr = -2}); }), HasSubstr("lr is -2"));
  EXPECT_THAT(Refused([&] { adam.AddParamGroup(p); }),
              HasSubstr("parameter 0 of group 1 is in another group"));
  EXPECT_THAT(Refused([&] { adam.SetOptions({.beta1 = 3}); }), HasSubstr("beta1 is 3"));
  EXPECT_THAT(Refused([&] { Adam(std::vector<Tensor>{}); }), HasSubstr("group 0 has no parameters"));
  EXPECT_THAT(Refused([&] { adam.SetLearningRate(1, 7); }),
              HasSubstr("group 7 is asked for; the optimizer has 1 group"));
  EXPECT_THAT(Refused([&] { adam.learning_rate(7); }),
              HasSubstr("group 7 is asked for; the optimizer has 1 group"));
  EXPECT_THAT(Refused([&] { adam.options(7); }),
              HasSubstr("group 7 is asked for; the optimizer has 1 group"));
  EXPECT_EQ(adam.group_count(), 1);
}

TEST_F(TorchGroups, SchedulersNameTheCallersLine) {
  Sgd sgd({Parameter()});
  EXPECT_THAT(Refused([&] { StepLr(sgd, 0); }), HasSubstr("step_size is 0, and must be positive"));
  EXPECT_THAT(Refused([&] { LinearLr(sgd, 2); }), HasSubstr("start is 2"));
  EXPECT_THAT(Refused([&] { LinearLr(sgd, .5, -1); }), HasSubstr("end is -1"));
  EXPECT_THAT(Refused([&] { LinearLr(sgd, .5, 1, 0); }), HasSubstr("total is 0"));
  EXPECT_THAT(Refused([&] { CosineAnnealingLr(sgd, 0); }), HasSubstr("t_max is 0"));
  EXPECT_THAT(Refused([&] { CosineAnnealingWarmRestarts(sgd, 2, 0); }), HasSubstr("t_mult is 0"));
  EXPECT_THAT(Refused([&] { ConstantLr(sgd, 1.5); }), HasSubstr("factor is 1.5"));
  EXPECT_THAT(Refused([&] { PolynomialLr(sgd, 0); }), HasSubstr("total is 0"));
  EXPECT_THAT(Refused([&] { OneCycleLr(sgd, {.max_rate = 1, .total = 10, .pct_start = 2}); }),
              HasSubstr("pct_start is 2"));
  EXPECT_THAT(Refused([&] { CyclicLr(sgd, {.max_rate = 1, .step_size_up = 0}); }),
              HasSubstr("step_size_up is 0"));
  EXPECT_THAT(Refused([&] { SequentialLr(sgd, {ConstantLr(sgd)}, {2}); }), HasSubstr("1 schedulers"));
  const auto one = [](int64_t) { return 1.0; };
  EXPECT_THAT(Refused([&] { LambdaLr(sgd, {one, one}); }), HasSubstr("2 rules for 1 group"));
}

}  // namespace
}  // namespace hlod
