// The optimizers, schedules and losses of optim_scaling.h and optim_losses.h, compared with Optax's results
// (optimizer/scaling.json).
#include <cmath>
#include <fstream>
#include <map>

#include "hlod/optim/optim_conditional.h"
#include "hlod/optim/optim_losses.h"
#include "hlod/optim/optim_scaling.h"
#include "nlohmann/json.hpp"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using nlohmann::json;
using Tree = std::map<std::string, Tensor>;

const json& Expected() {
  static const auto* const expected = new json(
      json::parse(std::ifstream(SourceDir() / "tests/unit/client/transform/optimizer/scaling.json")));
  return *expected;
}

Tree TreeOf(const json& values, const Device& device) {
  Tree tree;
  for (const auto& [name, shape] : Expected()["shapes"].items()) {
    const auto dims = shape.get<std::vector<int64_t>>();
    tree[name] =
        FromValues<float>(values[name].get<std::vector<float>>(), Dims(dims.begin(), dims.end()), device);
  }
  return tree;
}

void ExpectNear(const Tensor& got, const json& wanted, double tolerance, const std::string& of) {
  const std::vector<float> values = got.ToVector<float>();
  ASSERT_EQ(values.size(), wanted.size()) << of;
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = wanted[i];
    EXPECT_NEAR(values[i], expected, tolerance * (1 + std::abs(expected))) << of << "[" << i << "]";
  }
}

optim::Optimizer Scaled(const optim::Optimizer& link, double by = -0.1) {
  return optim::Chain({link, optim::Scale(by)});
}

std::map<std::string, optim::Optimizer> Optimizers() {
  const auto above_1 = [](const Tensor& leaf) { return leaf.rank() > 1; };
  return {
      {"rms", Scaled(optim::ScaleByRms())},
      {"rms_options", Scaled(optim::ScaleByRms({0.8, 1e-3, 0.5, false, true}))},
      {"stddev", Scaled(optim::ScaleByStddev({0.9, 1e-2, 9}), -0.01)},
      {"stddev_options", Scaled(optim::ScaleByStddev({0.9, 1e-2, 9, false, true}), -0.01)},
      {"rss", Scaled(optim::ScaleByRss())},
      {"amsgrad", optim::Amsgrad(1e-2)},
      {"amsgrad_options", optim::Amsgrad(1e-2, {.b1 = 0.8,
                                                .b2 = 0.95,
                                                .eps = 1e-3,
                                                .eps_root = 1e-4,
                                                .bias_correction_mu = false,
                                                .bias_correction_nu = false})},
      {"adamaxw", optim::AdamaxW(1e-2, 0.9, 0.999, 1e-8, 0.1, above_1)},
      {"adadelta", Scaled(optim::ScaleByAdadelta(0.8, 1e-3), -1)},
      {"radam", Scaled(optim::ScaleByRadam(), -1e-2)},
      {"radam_options",
       Scaled(optim::ScaleByRadam(
                  {.b1 = 0.8, .b2 = 0.9, .eps = 1e-3, .eps_root = 1e-4, .threshold = 4.5, .nesterov = true}),
              -1e-2)},
      {"novograd", optim::Novograd(1e-2, {.weight_decay = 0.05})},
      {"yogi", optim::Yogi(1e-2)},
      {"adan", optim::Adan(1e-2, {}, 0.05)},
      {"sm3", optim::Sm3(0.1)},
      {"sm3_options", Scaled(optim::ScaleBySm3(0.5, 0.9, 1e-3))},
      {"param_block_norm", Scaled(optim::ScaleByParamBlockNorm(), -0.01)},
      {"centralize", Scaled(optim::Centralize())},
      {"nonnegative", optim::Chain({optim::Sgd(0.5), optim::KeepParamsNonnegative()})},
      {"adaptive_clip", optim::Chain({optim::AdaptiveGradClip(0.2), optim::Sgd(0.1)})},
      {"apply_every", optim::Chain({optim::ApplyEvery(4), optim::Sgd(0.1)})},
      {"noisy_sgd", optim::NoisySgd(0.1, 0.3, 0.55, 7)},
      {"nadamw", optim::NadamW(1e-2, 0.1)},
      {"sign_sgd", optim::SignSgd(1e-2)},
      {"signum", optim::Signum(1e-2, 0.8)},
      {"fromage", optim::Fromage(0.1)},
      {"rprop", Scaled(optim::ScaleByRprop(0.01), -1)},
      {"rprop_options", Scaled(optim::ScaleByRprop(0.1, {0.3, 1.5, 0.05, 0.12}), -1)},
      {"conditionally_transform",
       optim::ConditionallyTransform(optim::Adam(1e-2),
                                     [](const Tensor& step) { return Eq(Remainder(step, 2), 0); })},
      {"conditionally_mask",
       optim::ConditionallyMask(optim::Adam(1e-2),
                                [](const Tensor& step) { return Ne(Remainder(step, 3), 1); })},
      {"apply_if_finite", optim::ApplyIfFinite(optim::Adam(1e-2), 2)},
      {"stateless", optim::StatelessWithTreeMap(
                        [](const Tensor& update, const Tensor& param) { return -0.1 * update * param; })},
  };
}

class OptimizerScaling : public TensorTest {};

TEST_F(OptimizerScaling, SixStepsGiveOptaxParameters) {
  const auto optimizers = Optimizers();
  ASSERT_EQ(optimizers.size(), Expected()["after"].size());
  for (const auto& [name, optimizer] : optimizers) {
    for (const Device& where : {Device(), device()}) {
      Tree params = TreeOf(Expected()["params"], where);
      optim::State state = optimizer.Init(params);
      for (const auto& gradient : Expected()["grads"]) {
        auto [updates, next] = optimizer.Update(TreeOf(gradient, where), state, params);
        params = optim::ApplyUpdates(params, updates);
        state = std::move(next);
      }
      for (const auto& [leaf, tensor] : params) {
        ExpectNear(tensor, Expected()["after"][name][leaf], 4e-6,
                   name + " " + leaf + " on " + where.ToString());
      }
    }
  }
}

// One program per optimizer: nothing in a step depends on its number.
TEST_F(OptimizerScaling, StepsCompileOnce) {
  for (const auto& [name, optimizer] : Optimizers()) {
    const auto step = Jit([&](const Tree& grads, const optim::State& state, const Tree& params) {
      auto [updates, next] = optimizer.Update(grads, state, params);
      return std::pair(optim::ApplyUpdates(params, updates), next.parts);
    });
    Tree params = TreeOf(Expected()["params"], device());
    optim::State state = optimizer.Init(params);
    for (const auto& gradient : Expected()["grads"]) {
      auto [moved, parts] = step(TreeOf(gradient, device()), state, params);
      params = std::move(moved);
      state.parts = std::move(parts);
    }
    EXPECT_EQ(step.traces(), 1) << name;
    ExpectNear(params["w"], Expected()["after"][name]["w"], 4e-6, name);
  }
}

TEST_F(OptimizerScaling, NansBecomeZeros) {
  const Tensor w = OnDevice({1, 2}, {2});
  const optim::Optimizer optimizer = optim::Chain({optim::ZeroNans(), optim::Scale(-1)});
  const Tensor gradient = OnDevice({std::nanf(""), 3}, {2});
  EXPECT_THAT(optimizer.Update(gradient, optimizer.Init(w), w).first.ToVector<float>(), ElementsAre(0, -3));
}

// Two gradients in a row that are not finite are ignored, a third is applied.
TEST_F(OptimizerScaling, GradientsThatAreNotFiniteAreIgnoredForAWhile) {
  const optim::Optimizer optimizer = optim::ApplyIfFinite(optim::Sgd(1, 0.5), 2);
  const Tensor fine = OnDevice({1, 2}, {2}), broken = OnDevice({std::nanf(""), 1}, {2});
  optim::State state = optimizer.Init(fine);
  const auto update = [&](const Tensor& gradient) {
    auto [updates, next] = optimizer.Update(gradient, state, fine);
    state = std::move(next);
    return updates.ToVector<float>();
  };
  EXPECT_THAT(update(fine), ElementsAre(-1, -2));
  EXPECT_THAT(update(broken), ElementsAre(0, 0));
  EXPECT_THAT(update(broken), ElementsAre(0, 0));
  EXPECT_THAT(update(fine), ElementsAre(-1.5, -3));  // The momentum is that of the first step.
  for (int i = 0; i < 2; ++i) update(broken);
  EXPECT_EQ(state.parts[0][0].Item<int64_t>(), 2);
  EXPECT_FALSE(state.parts[0][1].Item<bool>());
  EXPECT_EQ(state.parts[0][2].Item<int64_t>(), 4);
  EXPECT_THAT(update(broken), ElementsAre(::testing::IsNan(), ::testing::_));
  Throws([&] { optim::ApplyIfFinite(optim::Sgd(1), -1); });
  EXPECT_THAT(last_what_, HasSubstr("max_consecutive_errors (-1) is negative"));
}

TEST_F(OptimizerScaling, ACounterEndsAtTheLargestNumberAndASlowCopyIsPeriodic) {
  const auto after = [&](int64_t count, PrimitiveType type) {
    return optim::SafeIncrement(Full({}, count, {.type = type, .device = device()})).Item<int64_t>();
  };
  EXPECT_EQ(after(1, kS32), 2);
  EXPECT_EQ(after(2147483647, kS32), 2147483647);
  EXPECT_EQ(after(2147483647, kS64), 2147483648);
  EXPECT_EQ(after(9223372036854775807, kS64), 9223372036854775807);
  const Tree next = {{"a", OnDevice({2}, {1})}}, old = {{"a", OnDevice({7}, {1})}};
  for (int32_t step = 0; step < 5; ++step) {
    const Tensor count = Full({}, step, {.type = kS32, .device = device()});
    EXPECT_EQ(optim::PeriodicUpdate(next, old, count, 4).at("a").Item<float>(), step % 4 == 0 ? 2 : 7);
  }
}

TEST_F(OptimizerScaling, SchedulesAreOptaxs) {
  const optim::ExponentialDecayOptions to_a_fifth = {.end_value = 0.2};
  const std::map<std::string, optim::Schedule> schedules = {
      {"piecewise_linear",
       optim::PiecewiseInterpolateSchedule(optim::Interpolation::kLinear, 1, {{4, 0.1}, {9, 0.5}, {15, 3}})},
      {"piecewise_cosine",
       optim::PiecewiseInterpolateSchedule(optim::Interpolation::kCosine, 0.5, {{3, 2}, {12, 0.25}})},
      {"linear_onecycle", optim::LinearOnecycleSchedule(17, 0.8)},
      {"cosine_onecycle", optim::CosineOnecycleSchedule(17, 0.8, 0.4, 10)},
      {"warmup_exponential", optim::WarmupExponentialDecaySchedule(0.1, 0.9, 4, 3, 0.7, to_a_fifth)},
      {"sgdr", optim::SgdrSchedule({{0, 1, 2, 6}, {0.1, 0.5, 1, 8, 0.05}, {0, 0.2, 2, 9}})},
  };
  ASSERT_EQ(schedules.size(), Expected()["schedules"].size());
  for (const auto& [name, schedule] : schedules) {
    std::vector<Tensor> values;
    for (int32_t count = 0; count <= 20; ++count) {
      values.push_back(schedule(Full({}, count, {.type = kS32, .device = device()})));
    }
    ExpectNear(Stack(values), Expected()["schedules"][name], 1e-6, name);
  }
}

// Values of Optax 0.2.8, where the last of the boundaries at a step counts.
TEST_F(OptimizerScaling, PhasesWithoutStepsLeaveNoTrace) {
  const auto at = [&](const optim::Schedule& schedule, int32_t count) {
    return schedule(Full({}, count, {.type = kS32, .device = device()})).Item<double>();
  };
  const optim::Schedule two = optim::LinearOnecycleSchedule(10, 1, 0.3, 1);
  EXPECT_NEAR(at(two, 3), 1, 1e-6);
  EXPECT_NEAR(at(two, 9), 0.14294284582138062, 1e-6);
  EXPECT_NEAR(at(two, 10), 1e-4, 1e-9);
  const optim::Schedule down = optim::CosineOnecycleSchedule(10, 1, 1);
  EXPECT_NEAR(at(down, 5), 0.020000077784061432, 1e-7);
  EXPECT_NEAR(at(down, 10), 1.6e-7, 1e-12);
}

TEST_F(OptimizerScaling, LossesAndTheirGradientsAreOptaxs) {
  const json& all = Expected()["losses"];
  const Tensor x = OnDevice(all["x"].get<std::vector<float>>(), {3, 4});
  const Tensor y = OnDevice(all["y"].get<std::vector<float>>(), {3, 4});
  using Loss = std::function<Tensor(const Tensor&)>;
  Tensor sparse = Softmax(y, -1).Clone();
  sparse[0][0].Fill_(0);
  const std::map<std::string, Loss> losses = {
      {"l2", [&](const Tensor& x) { return optim::L2Loss(x, y); }},
      {"log_cosh", [&](const Tensor& x) { return optim::LogCosh(x, y); }},
      {"hinge", [&](const Tensor& x) { return optim::HingeLoss(x, Sgn(y)); }},
      {"cosine", [&](const Tensor& x) { return optim::CosineDistance(x, y); }},
      {"kl", [&](const Tensor& x) { return optim::KlDivergence(LogSoftmax(x, -1), sparse); }},
      {"generalized_kl", [&](const Tensor& x) { return optim::GeneralizedKlDivergence(x, Softmax(y, -1)); }},
      {"ntxent",
       [&](const Tensor& x) {
         return optim::Ntxent(x, FromValues<int64_t>({1, 0, 1}, Dims{3}, x.device()));
       }},
      {"ntxent_warm",
       [&](const Tensor& x) {
         return optim::Ntxent(x * y, FromValues<int64_t>({2, 2, 0}, Dims{3}, x.device()), 0.5);
       }},
      {"safe_norm", [&](const Tensor& x) { return optim::SafeNorm(x, 0.1) * y; }},
      {"safe_norm_of_zeros", [&](const Tensor& x) { return optim::SafeNorm(x * 0, 0.1) * y; }},
      {"safe_rms", [&](const Tensor& x) { return optim::SafeRootMeanSquares(x, 0.1) * y; }},
      {"safe_rms_below", [&](const Tensor& x) { return optim::SafeRootMeanSquares(x, 9) * y; }},
      {"smooth", [&](const Tensor& x) { return optim::SmoothLabels(Softmax(x, -1), 0.2) * y; }},
  };
  ASSERT_EQ(losses.size() + 2, all.size());
  for (const auto& [name, loss] : losses) {
    ExpectNear(loss(x), all[name]["value"], 1e-6, name);
    const auto total = [&f = loss](const Tensor& x) { return Sum(f(x)); };
    ExpectNear(Grad(total)(x), all[name]["gradient"], 2e-6, name + "'s gradient");
  }
}

TEST_F(OptimizerScaling, TreesHaveANormAndASlowCopy) {
  const Tree tree = TreeOf(Expected()["params"], device());
  const double norm = Expected()["global_norm"];
  EXPECT_NEAR(optim::GlobalNorm(tree).Item<float>(), norm, 1e-6 * norm);
  const Tree next = {{"a", OnDevice({2, 4}, {2})}}, old = {{"a", OnDevice({0, 8}, {2})}};
  EXPECT_THAT(optim::IncrementalUpdate(next, old, 0.25).at("a").ToVector<float>(), ElementsAre(0.5, 7));
}

TEST_F(OptimizerScaling, OptionsAreChecked) {
  Throws([] { optim::ApplyEvery(0); });
  EXPECT_THAT(last_what_, HasSubstr("k (0) of apply_every is not positive"));
  Throws([] { optim::LinearOnecycleSchedule(0, 1); });
  EXPECT_THAT(last_what_, HasSubstr("transition_steps (0) is not positive"));
  Throws([] { optim::LinearOnecycleSchedule(10, 1, NAN); });
  EXPECT_THAT(last_what_, HasSubstr("pct_start is nan, and must be at least 0 and at most 1"));
  Throws([] { optim::LinearOnecycleSchedule(10, 1, 0.3, 1e30); });
  EXPECT_THAT(last_what_, HasSubstr("pct_final is 1e+30, and must be at least 0 and at most 1"));
  Throws([] { optim::CosineOnecycleSchedule(10, 1, -1e30); });
  EXPECT_THAT(last_what_, HasSubstr("pct_start is -1e+30, and must be at least 0 and at most 1"));
  Throws([] { optim::PiecewiseInterpolateSchedule(optim::Interpolation::kLinear, 1, {{3, -1}}); });
  EXPECT_THAT(last_what_, HasSubstr("the scale (-1) at 3 is negative"));
  Throws([] { optim::IncrementalUpdate(std::vector<Tensor>{Ones({2})}, std::vector<Tensor>{}, 0.1); });
  EXPECT_THAT(last_what_, HasSubstr("the new tree has 1 tensors, and the old one 0"));
  Throws([] { optim::SgdrSchedule({}); });
  EXPECT_THAT(last_what_, HasSubstr("there is no cycle"));
}

}  // namespace
}  // namespace hlod
