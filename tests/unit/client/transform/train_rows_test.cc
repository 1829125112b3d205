// The acceptance rows of training steps, and optimizers in PyTorch's style. Expected losses are Optax's.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using Json = nlohmann::json;
using Params = std::map<std::string, Tensor>;

const Json& Recorded() {
  static const auto* const recorded = [] {
    std::ifstream file(SourceDir() / "tests/unit/client/transform/train/train.json");
    return new Json(Json::parse(file));
  }();
  return *recorded;
}

class TrainRows : public TensorTest {
 protected:
  Tensor FromJson(const Json& array) const {
    const auto dims = array["dims"].get<std::vector<int64_t>>();
    return FromValues<float>(array["values"].get<std::vector<float>>(), Dims(dims.begin(), dims.end()),
                             device());
  }
  Params Start() const {
    Params params;
    for (const auto& [name, value] : Recorded()["params"].items()) params[name] = FromJson(value);
    return params;
  }
  Tensor x() const { return FromJson(Recorded()["x"]); }
  Tensor target() const { return FromJson(Recorded()["target"]); }
  static void ExpectLoss(const Tensor& loss, const std::string& name, size_t step) {
    EXPECT_NEAR(loss.Item<float>(), Recorded()["losses"][name][step].get<float>(), 1e-5)
        << name << ", step " << step;
  }
};

Tensor Model(const Params& p, const Tensor& x) {
  return MatMul(Tanh(MatMul(x, p.at("w")) + p.at("b")), p.at("v"));
}
Tensor MeanSquare(const Tensor& y, const Tensor& target) { return Mean(Square(y - target)); }

const std::map<std::string, optim::Optimizer>& Optimizers() {
  static const auto* const optimizers = new std::map<std::string, optim::Optimizer>{
      {"sgd", optim::Sgd(0.1)},
      {"momentum", optim::Sgd(0.1, 0.9)},
      {"adam", optim::Adam(1e-2)},
      {"adamw", optim::AdamW(1e-2, 1e-2)},
  };
  return *optimizers;
}

// Acceptance row JX10.
TEST_F(TrainRows, LossesAreOptaxs) {
  for (const auto& [name, optimizer] : Optimizers()) {
    const auto step = MakeTrainStep(Model, MeanSquare, optimizer, CheckpointPolicy::Nothing());
    Params params = Start();
    optim::State state = optimizer.Init(params);
    const Tensor x = this->x(), target = this->target();
    for (size_t i = 0; i < Recorded()["losses"][name].size(); ++i) {
      if (i == 2) ResetTraceStats();
      auto result = step(params, state, x, target);
      params = std::move(result.params);
      state = std::move(result.state);
      ExpectLoss(result.loss, name, i);
    }
    EXPECT_EQ(step.traces(), 1) << name;
    EXPECT_EQ(GetTraceStats().compiles, 0) << name;
    EXPECT_GE(GetTraceStats().donated, 6 * static_cast<int64_t>(Leaves(params).size())) << name;
  }
}

// Acceptance row JX10.
TEST_F(TrainRows, TheOldParametersAndStateAreGivenUp) {
  const optim::Optimizer adam = optim::Adam(1e-2);
  const auto apply = [](const Params& p, const Tensor& x) { return MatMul(x, p.at("w")); };
  const auto step = MakeTrainStep(apply, MeanSquare, adam);
  Params params = {{"w", Ones({512, 512}, {.device = device()})}};
  optim::State state = adam.Init(params);
  const Tensor x = Ones({4, 512}, {.device = device()}), target = Zeros({4, 512}, {.device = device()});
  const Params first = params;
  int64_t live = 0;
  for (int i = 0; i < 4; ++i) {
    auto result = step(params, state, x, target);
    params = std::move(result.params);
    state = std::move(result.state);
    static_cast<void>(result.loss.Item<float>());
    if (i == 1) live = Account().live_bytes;
  }
  // Parameters and two moments, 1 MiB per tensor, are never held twice and do not accumulate.
  EXPECT_LE(Account().live_bytes, live + 4096);
  EXPECT_LE(live, int64_t{3} * 512 * 512 * 4 + (64 << 10));
  EXPECT_EQ(KindOf(Thrown([&] { first.at("w").ToHost(); })), ErrorKind::kDonated);
}

// Acceptance row JX10.
TEST_F(TrainRows, WhatIsNotKeptIsComputedAgain) {
  const optim::Optimizer sgd = optim::Sgd(0.1);
  const auto sines = [&](const CheckpointPolicy& policy) {
    const auto apply = [](const Params& p, const Tensor& x) {
      return MatMul(Sin(MatMul(x, p.at("w"))), p.at("w"));
    };
    const auto step = MakeTrainStep(apply, MeanSquare, sgd, policy);
    const Params params = {{"w", OnDevice({1, 2, 3, 4}, {2, 2})}};
    const auto result = step(params, sgd.Init(params), OnDevice({1, 2}, {1, 2}), OnDevice({0, 0}, {1, 2}));
    const std::string text = Dump(result.params.at("w"), DumpFormat::kHlo);
    return text.find("opt-barrier") != std::string::npos;
  };
  EXPECT_FALSE(sines(CheckpointPolicy::Everything()));
  EXPECT_TRUE(sines(CheckpointPolicy::Nothing()));
}

struct Mlp : nn::Module {
  Tensor w, b, v;
  explicit Mlp(const Params& p) : w(p.at("w").Clone()), b(p.at("b").Clone()), v(p.at("v").Clone()) {
    RegisterParameter("w", w);
    RegisterParameter("b", b);
    RegisterParameter("v", v);
  }
  Tensor operator()(const Tensor& x) const { return MatMul(Tanh(MatMul(x, w) + b), v); }
};

TEST_F(TrainRows, AModuleTrainsByItsNames) {
  const Mlp model(Start());
  const auto step = MakeTrainStep(model, MeanSquare, Optimizers().at("adam"));
  nn::StateDict params = TrainParams(model);
  optim::State state = Optimizers().at("adam").Init(params);
  for (size_t i = 0; i < 3; ++i) {
    auto result = step(params, state, x(), target());
    params = result.params;
    state = result.state;
    ExpectLoss(result.loss, "adam", i);
  }
}

TEST_F(TrainRows, OptimizersInPyTorchsMannerGiveOptaxsLosses) {
  const auto train = [&](const std::string& name, Mlp& model, ParameterOptimizer& optimizer) {
    const Tensor x = this->x(), target = this->target();
    for (size_t i = 0; i < Recorded()["losses"][name].size(); ++i) {
      if (i == 2) ResetTraceStats();
      const Tensor loss = MeanSquare(model(x), target);
      loss.Backward();
      optimizer.Step();
      optimizer.ZeroGrad();
      Sync();
      ExpectLoss(loss, name, i);
    }
    EXPECT_EQ(GetTraceStats().compiles, 0) << name;
    EXPECT_GE(GetTraceStats().donated, 6 * 3) << name;
  };
  Mlp first(Start()), second(Start()), third(Start()), fourth(Start());
  Sgd sgd(first.Parameters(), {.lr = 0.1});
  train("sgd", first, sgd);
  Sgd momentum(second.Parameters(), {.lr = 0.1, .momentum = 0.9});
  train("momentum", second, momentum);
  Adam adam(third.Parameters(), {.lr = 1e-2});
  train("adam", third, adam);
  AdamW adamw(fourth.Parameters(), {.lr = 1e-2, .weight_decay = 1e-2});
  train("adamw", fourth, adamw);
}

TEST_F(TrainRows, AChangedLearningRateDoesNotCompileAgain) {
  Tensor w = OnDevice({1}, {1}).RequiresGrad_();
  Sgd sgd({w}, {.lr = 0.5});
  for (const double lr : {0.5, 0.25, 0.125, 0.0625}) {
    sgd.SetLearningRate(lr);
    if (lr == 0.125) ResetTraceStats();
    Sum(w * 2).Backward();
    sgd.Step();
    sgd.ZeroGrad();
    Sync();
  }
  EXPECT_EQ(GetTraceStats().compiles, 0);
  EXPECT_EQ(w.Detach().Item<float>(), 1 - 2 * (0.5f + 0.25f + 0.125f + 0.0625f));
}

TEST_F(TrainRows, AParameterWithoutAGradientStaysAsItIs) {
  Tensor used = OnDevice({1}, {1}).RequiresGrad_(), unused = OnDevice({2}, {1}).RequiresGrad_();
  Adam adam({used, unused}, {.lr = 0.5});
  Sum(used * 3).Backward();
  adam.Step();
  EXPECT_NEAR(used.Detach().Item<float>(), 0.5, 1e-5);  // Adam's first step moves by the rate.
  EXPECT_EQ(unused.Detach().Item<float>(), 2);
}

}  // namespace
}  // namespace hlod
