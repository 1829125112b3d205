// Optimizers and schedules, compared with Optax's results (optimizer/optax.json).
#include <fstream>
#include <limits>
#include <map>

#include "hlod/optim/optim.h"
#include "hlod/optim/optim_wrappers.h"
#include "nlohmann/json.hpp"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using Tree = std::map<std::string, Tensor>;

const nlohmann::json& Optax() {
  static const auto* const optax = new nlohmann::json(
      nlohmann::json::parse(std::ifstream(SourceDir() / "tests/unit/client/transform/optimizer/optax.json")));
  return *optax;
}

Tree TreeOf(const nlohmann::json& values, const Device& device) {
  Tree tree;
  for (const auto& [name, shape] : Optax()["shapes"].items()) {
    const auto dims = shape.get<std::vector<int64_t>>();
    tree[name] =
        FromValues<float>(values[name].get<std::vector<float>>(), Dims(dims.begin(), dims.end()), device);
  }
  return tree;
}

std::map<std::string, optim::Schedule> Schedules() {
  return {
      {"constant", optim::ConstantSchedule(0.3)},
      {"exponential", optim::ExponentialDecay(0.5, 3, 0.7)},
      {"exponential_stairs",
       optim::ExponentialDecay(0.5, 3, 0.7, {.transition_begin = 2, .staircase = true, .end_value = 0.2})},
      {"cosine", optim::CosineDecay(0.4, 10, 0.1, 1.5)},
      {"linear", optim::LinearSchedule(0.1, 0.9, 8, 2)},
      {"polynomial", optim::PolynomialSchedule(1.0, 0.2, 2.0, 10)},
      {"warmup_cosine", optim::WarmupCosineDecay(0.0, 1.0, 4, 16, 0.1)},
      {"betas", optim::LinearSchedule(0.8, 0.95, 4)},
      {"piecewise", optim::PiecewiseConstant(1.0, {{4, 0.1}, {9, 0.5}})},
  };
}

using Optimizers = std::map<std::string, optim::Optimizer>;

Optimizers PlainOptimizers() {
  const optim::Rate scheduled(Schedules().at("warmup_cosine"));
  const auto above_1 = [](const Tensor& leaf) { return leaf.rank() > 1; };
  return {
      {"sgd", optim::Sgd(0.1)},
      {"sgd_momentum", optim::Sgd(0.1, 0.9)},
      {"sgd_nesterov", optim::Sgd(0.1, 0.9, true)},
      {"adam", optim::Adam(1e-2)},
      {"adam_options", optim::Adam(1e-2, {.b1 = 0.8, .b2 = 0.95, .eps = 1e-3, .eps_root = 1e-4})},
      {"nadam", optim::Adam(1e-2, {.nesterov = true})},
      {"adamw", optim::AdamW(1e-2, 0.1)},
      {"adam_scheduled", optim::Adam(scheduled)},
      {"lion", optim::Lion(1e-2, 0.9, 0.99, 0.05)},
      {"adafactor", optim::Adafactor(1e-2, {.min_dim_size_to_factor = 3})},
      {"adafactor_plain", optim::Adafactor(1e-2, {.multiply_by_parameter_scale = false,
                                                  .clipping_threshold = std::nullopt,
                                                  .momentum = 0.9,
                                                  .weight_decay_rate = 1e-2,
                                                  .factored = false})},
      {"clipped", optim::Chain({optim::ClipByGlobalNorm(0.5), optim::Sgd(0.1)})},
      {"clipped_elements", optim::Chain({optim::Clip(0.3), optim::Sgd(0.1)})},
      {"ema", optim::Chain({optim::Ema(0.9), optim::Scale(-0.1)})},
      {"adamw_masked", optim::AdamW(1e-2, 0.1, {}, above_1)},
      {"adabelief", optim::AdaBelief(1e-2)},
      {"adabelief_options",
       optim::AdaBelief(1e-2, {.b1 = 0.8, .b2 = 0.95, .eps = 1e-3, .eps_root = 1e-4, .nesterov = true})},
      {"lamb", optim::Lamb(1e-2, {.weight_decay = 0.1, .mask = above_1})},
      {"lars", optim::Lars(0.5)},
      {"lars_options", optim::Lars(0.5, {.weight_decay = 0.05,
                                         .weight_decay_mask = above_1,
                                         .trust_coefficient = 0.1,
                                         .eps = 1e-3,
                                         .trust_ratio_mask = above_1,
                                         .momentum = 0.8,
                                         .nesterov = true})},
      {"trust_ratio", optim::Chain({optim::ScaleByTrustRatio(2.5, 0.3, 1e-3), optim::Scale(-0.1)})},
      {"muon", optim::Muon(1e-2, {.weight_decay = 0.1})},
      {"muon_options", optim::Muon(1e-2, {.ns_coeffs = {{4.0848, -6.8946, 2.9270},
                                                        {3.9505, -6.3029, 2.6377},
                                                        {2.8366, -3.0525, 1.2012}},
                                          .beta = 0.8,
                                          .nesterov = false,
                                          .adaptive = true,
                                          .adam_b1 = 0.8,
                                          .adam_weight_decay = 0.05,
                                          .adam_rate = 3e-3,
                                          .consistent_rms = 0.2})},
  };
}

Optimizers CombinedOptimizers() {
  const auto above_1 = [](const Tensor& leaf) { return leaf.rank() > 1; };
  const auto label = [](const Tensor& leaf) {
    return std::string(leaf.rank() == 1 ? "fixed" : leaf.rank() == 2 ? "matrix" : "other");
  };
  // A schedule of accumulation: first one step alone, then two at a time.
  const optim::Schedule one_then_two = [](const Tensor& step) { return Where(Lt(step, 1), 1.0, 2.0); };
  return {
      {"masked", optim::Chain({optim::Masked(optim::ScaleByAdam(), above_1), optim::Scale(-0.01)})},
      {"multi_transform",
       optim::MultiTransform(
           {{"fixed", optim::SetToZero()}, {"matrix", optim::Sgd(0.1, 0.9)}, {"other", optim::Adam(1e-2)}},
           label)},
      {"multi_steps", optim::MultiSteps(optim::Adam(1e-2), 3)},
      {"multi_steps_scheduled", optim::MultiSteps(optim::Sgd(0.1, 0.9), one_then_two, false)},
  };
}

Optimizers InjectedOptimizers() {
  const optim::Rate scheduled(Schedules().at("warmup_cosine"));
  const optim::Rate betas(Schedules().at("betas"));
  return {
      {"injected", optim::InjectHyperparams(
                       [](const std::map<std::string, optim::Rate>& h) {
                         return optim::Chain({optim::ScaleByAdam(),
                                              optim::AddDecayedWeights(h.at("weight_decay")),
                                              optim::ScaleByLearningRate(h.at("learning_rate"))});
                       },
                       {{"learning_rate", scheduled}, {"weight_decay", 0.1}})},
      {"injected_betas",
       optim::InjectHyperparams(
           [](const auto& h) {
             return optim::Adam(
                 h.at("learning_rate"),
                 {.b1 = h.at("b1"), .b2 = h.at("b2"), .eps = h.at("eps"), .eps_root = h.at("eps_root")});
           },
           {{"learning_rate", 1e-2}, {"b1", betas}, {"b2", .95}, {"eps", 1e-3}, {"eps_root", 1e-4}})},
      {"injected_momentum",
       optim::InjectHyperparams(
           [](const auto& h) { return optim::Sgd(h.at("learning_rate"), h.at("momentum")); },
           {{"learning_rate", .1}, {"momentum", betas}})},
      {"injected_lion",
       optim::InjectHyperparams(
           [](const auto& h) { return optim::Lion(1e-2, h.at("b1"), h.at("b2"), h.at("weight_decay")); },
           {{"b1", betas}, {"b2", .9}, {"weight_decay", .05}})},
  };
}

Optimizers InjectedNorms() {
  const optim::Rate betas(Schedules().at("betas"));
  const auto above_1 = [](const Tensor& leaf) { return leaf.rank() > 1; };
  return {
      {"injected_lamb", optim::InjectHyperparams(
                            [=](const auto& h) {
                              return optim::Lamb(1e-2, {.b1 = h.at("b1"),
                                                        .eps = h.at("eps"),
                                                        .weight_decay = h.at("weight_decay"),
                                                        .mask = above_1});
                            },
                            {{"b1", .8}, {"eps", 1e-4}, {"weight_decay", betas}})},
      {"injected_clip",
       optim::Chain(
           {optim::InjectHyperparams([](const auto& h) { return optim::ClipByGlobalNorm(h.at("norm")); },
                                     {{"norm", betas}}),
            optim::InjectHyperparams([](const auto& h) { return optim::Clip(h.at("delta")); },
                                     {{"delta", .2}}),
            optim::Sgd(.1)})},
      {"injected_adafactor", optim::InjectHyperparams(
                                 [](const auto& h) {
                                   return optim::Adafactor(h.at("learning_rate"),
                                                           {.min_dim_size_to_factor = 3,
                                                            .decay_rate = h.at("decay_rate"),
                                                            .clipping_threshold = h.at("threshold"),
                                                            .momentum = h.at("momentum"),
                                                            .weight_decay_rate = h.at("decay"),
                                                            .eps = h.at("eps")});
                                 },
                                 {{"learning_rate", 1e-2},
                                  {"decay_rate", .7},
                                  {"threshold", betas},
                                  {"momentum", .9},
                                  {"decay", 1e-2},
                                  {"eps", 1e-4}})},
      {"multi_steps_skip_large",
       optim::MultiSteps(optim::Adam(1e-2), 2, /*use_grad_mean=*/true, optim::SkipLargeUpdates(42))},
  };
}

Optimizers AllOptimizers() {
  Optimizers all = PlainOptimizers();
  all.merge(CombinedOptimizers());
  all.merge(InjectedOptimizers());
  all.merge(InjectedNorms());
  return all;
}

class Optimizer : public TensorTest {};

TEST_F(Optimizer, SixStepsGiveOptaxParameters) {
  const auto optimizers = AllOptimizers();
  ASSERT_EQ(optimizers.size(), Optax()["after"].size());
  for (const auto& [name, optimizer] : optimizers) {
    for (const Device& where : {Device(), device()}) {
      Tree params = TreeOf(Optax()["params"], where);
      optim::State state = optimizer.Init(params);
      for (const auto& gradient : Optax()["grads"]) {
        auto [updates, next] = optimizer.Update(TreeOf(gradient, where), state, params);
        params = optim::ApplyUpdates(params, updates);
        state = std::move(next);
      }
      for (const auto& [leaf, tensor] : params) {
        const std::vector<float> got = tensor.ToVector<float>();
        const auto wanted = Optax()["after"][name][leaf].get<std::vector<double>>();
        for (size_t i = 0; i < got.size(); ++i) {
          EXPECT_NEAR(got[i], wanted[i], 2e-6 + 2e-6 * std::abs(wanted[i]))
              << name << " " << leaf << "[" << i << "] on " << where.ToString();
        }
      }
    }
  }
}

// Second moments are of |g|^2, the same for the real and the imaginary part. Expected values are Optax
// 0.2.8's.
TEST_F(Optimizer, FiveStepsOfComplexParametersGiveOptax) {
  using Complex64 = std::complex<float>;
  const std::vector<std::vector<Complex64>> gradients = {{{.5F, -.2F}, {-1, .3F}},
                                                         {{-.3F, 1}, {.8F, -.6F}},
                                                         {{.9F, .1F}, {-.1F, .7F}},
                                                         {{.05F, -.5F}, {.6F, .2F}},
                                                         {{1.2F, .4F}, {-.4F, -.9F}}};
  const std::map<std::string, std::pair<optim::Optimizer, std::vector<float>>> cases = {
      {"adam", {optim::Adam(.1), {0.760110915F, -2.07740569F, 0.594427049F, 2.96412063F}}},
      {"adamw", {optim::AdamW(.1, .1), {0.716293573F, -1.97849369F, 0.565989137F, 2.8182261F}}},
      {"nadam",
       {optim::Adam(.1, {.nesterov = true}), {0.699392676F, -2.08414006F, 0.592721939F, 2.97227049F}}},
      {"lion", {optim::Lion(.1, .9, .99, 1e-3), {0.705358982F, -2.0144763F, 0.482572109F, 2.9876039F}}},
      {"clip",
       {optim::Chain({optim::ClipByGlobalNorm(.5), optim::Sgd(.1)}),
        {0.909404993F, -2.01195145F, 0.494582772F, 2.9932096F}}},
      {"block",
       {optim::Chain({optim::ClipByBlockRms(.5), optim::Sgd(.1)}),
        {0.87187916F, -2.01690221F, 0.492338955F, 2.99039698F}}},
      {"adafactor",
       {optim::Adafactor(.1, {.factored = false}), {0.280819416F, -2.12026358F, 0.503460646F, 2.99118543F}}},
  };
  for (const auto& [name, each] : cases) {
    std::vector<Tensor> params = {FromValues<Complex64>({{1, -2}, {.5, 3}}, Dims{2}, device())};
    optim::State state = each.first.Init(params);
    for (const std::vector<Complex64>& gradient : gradients) {
      const std::vector<Tensor> given = {FromValues<Complex64>(gradient, Dims{2}, device())};
      auto [updates, next] = each.first.Update(given, state, params);
      state = std::move(next);
      params = optim::ApplyUpdates(params, updates);
    }
    const Tensor parts = ViewAsReal(params[0]).Reshape({4});
    EXPECT_THAT(parts.ToVector<float>(), ::testing::Pointwise(::testing::FloatNear(4e-6F), each.second))
        << name;
  }
}

// For f64 parameters, rates and corrections have the precision of f64. Expected values are those of Optax
// 0.2.8 with 64 bits.
TEST_F(Optimizer, FiveStepsOfF64ParametersGiveOptax) {
  const std::vector<std::vector<double>> gradients = {
      {.5, -.2, -1, .3}, {-.3, 1, .8, -.6}, {.9, .1, -.1, .7}, {.05, -.5, .6, .2}, {1.2, .4, -.4, -.9}};
  const std::map<std::string, std::pair<optim::Optimizer, std::vector<double>>> cases = {
      {"adam",
       {optim::Adam(.1), {0.6953888094456832, -2.053491178874579, 0.5981812028713426, 2.8930501603896692}}},
      {"scheduled",
       {optim::Adam(optim::CosineDecay(.1, 10)),
        {0.7371040574013525, -2.0345443296418617, 0.6005860261160492, 2.895956108784237}}},
      {"adafactor",
       {optim::Adafactor(.1, {.factored = false}),
        {0.43367495794948097, -2.0104660131739895, 0.5030588671339251, 2.921223545149748}}},
  };
  for (const auto& [name, each] : cases) {
    std::vector<Tensor> params = {FromValues<double>({1, -2, .5, 3}, Dims{4}, device())};
    optim::State state = each.first.Init(params);
    for (const std::vector<double>& gradient : gradients) {
      const std::vector<Tensor> given = {FromValues<double>(gradient, Dims{4}, device())};
      auto [updates, next] = each.first.Update(given, state, params);
      state = std::move(next);
      params = optim::ApplyUpdates(params, updates);
    }
    EXPECT_THAT(params[0].ToVector<double>(), ::testing::Pointwise(::testing::DoubleNear(1e-13), each.second))
        << name;
  }
}

TEST_F(Optimizer, AMaskMayBeAListByThePathsOfLeaves) {
  Tree params = TreeOf(Optax()["params"], device());
  const auto mask = optim::PerLeaf(
      params, [](const std::string& path, const Tensor& leaf) { return leaf.rank() > 1 && path != "b"; });
  const optim::Optimizer optimizer =
      optim::Chain({optim::Masked(optim::ScaleByAdam(), mask), optim::Scale(-0.01)});
  optim::State state = optimizer.Init(params);
  EXPECT_EQ(state.parts[0].size(), 5) << "two moments of two leaves, and the count";
  for (const auto& gradient : Optax()["grads"]) {
    auto [updates, next] = optimizer.Update(TreeOf(gradient, device()), state, params);
    params = optim::ApplyUpdates(params, updates);
    state = std::move(next);
  }
  EXPECT_NEAR(params.at("b").ToVector<float>()[0], Optax()["after"]["masked"]["b"][0].get<double>(), 2e-6);
  Throws([&] { optimizer.Init(std::vector<Tensor>{params.at("b")}); });
  EXPECT_THAT(last_what_, HasSubstr("has 3 values for 1 leaf"));
  EXPECT_THAT(last_what_, HasSubstr("optimizer_test.cc"));
  const optim::Optimizer labelled = optim::MultiTransform({{"a", optim::Sgd(.1)}, {"b", optim::Sgd(.1)}},
                                                          [](const Tensor&) { return std::string("c"); });
  Throws([&] { labelled.Init(params); });
  EXPECT_THAT(last_what_, HasSubstr("leaf 0 is labelled \"c\", and there are optimizers for a, b"));
  EXPECT_THAT(last_what_, HasSubstr("optimizer_test.cc"));
}

// By hand: steps along the gradient 1 at the rates in the state.
TEST_F(Optimizer, AnInjectedNumberStaysAScalar) {
  const optim::Optimizer optimizer = optim::InjectHyperparams(
      [](const auto& h) { return optim::Sgd(h.at("learning_rate")); }, {{"learning_rate", 0.5}});
  const std::vector<Tensor> params = {OnDevice({4}, {1})};
  optim::State state = optimizer.Init(params);
  optim::Hyperparam(optimizer, state, "learning_rate") = OnDevice({0.25}, {1});
  Throws([&] { optimizer.Update(params, state, params); });
  EXPECT_THAT(last_what_,
              AllOf(HasSubstr("the hyperparameter \"learning_rate\" is f32[1], and must be a scalar"),
                    HasSubstr("optimizer_test.cc")));
}

// A setting that is a plain number in C++ would become 0.
TEST_F(Optimizer, AnInjectedNumberHasNoValueWhenTheChainIsMade) {
  Throws([] {
    optim::InjectHyperparams([](const auto& h) { return optim::AdaptiveGradClip(h.at("clipping").value()); },
                             {{"clipping", 0.1}});
  });
  EXPECT_THAT(last_what_, AllOf(HasSubstr("it can stand only where a Number or a Rate is taken"),
                                HasSubstr("optimizer_test.cc")));
  Throws([] { optim::Number(Ones({})).value(); });
  EXPECT_THAT(last_what_, HasSubstr("it can stand only where a Number or a Rate is taken"));
  Throws([] { optim::Rate(optim::ConstantSchedule(1)).value(); });
  EXPECT_THAT(last_what_, HasSubstr("a schedule has a value per step, not one value"));
  EXPECT_EQ(optim::Rate(optim::Number(0.25)).value(), 0.25);
}

TEST_F(Optimizer, AnInjectedNumberIsReadAndChangedInTheState) {
  const optim::Optimizer optimizer =
      optim::Chain({optim::Clip(10),
                    optim::InjectHyperparams([](const auto& h) { return optim::Sgd(h.at("learning_rate")); },
                                             {{"learning_rate", 0.5}})});
  std::vector<Tensor> params = {OnDevice({4}, {1})};
  const std::vector<Tensor> gradient = {OnDevice({1}, {1})};
  optim::State state = optimizer.Init(params);
  int64_t compiles = 0;
  for (const float rate : {.5F, .25F, .125F, 1.F}) {
    optim::Hyperparam(optimizer, state, "learning_rate") = OnDevice({rate}, {});
    auto [updates, next] = optimizer.Update(gradient, state, params);
    params = optim::ApplyUpdates(params, updates);
    state = std::move(next);
    Sync();
    if (rate == .25F) compiles = GetTraceStats().compiles;
  }
  EXPECT_EQ(GetTraceStats().compiles, compiles);
  EXPECT_THAT(params[0].ToVector<float>(), ElementsAre(2.125));
  EXPECT_EQ(optim::Hyperparam(optimizer, state, "learning_rate").Item<float>(), 1);
  Throws([&] { optim::Hyperparam(optimizer, state, "momentum"); });
  EXPECT_THAT(last_what_, HasSubstr("there is no hyperparameter \"momentum\"; there are: learning_rate"));
}

// By hand: with a rate of 1 a step subtracts the mean of two gradients; those with a NaN or an infinity never
// were.
TEST_F(Optimizer, GradientsThatAreNotFiniteArePassedOver) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                  kInf = std::numeric_limits<float>::infinity();
  const optim::Optimizer optimizer =
      optim::MultiSteps(optim::Sgd(1), 2, /*use_grad_mean=*/true, optim::SkipNotFinite);
  std::vector<Tensor> params = {OnDevice({10, 20}, {2}), Tensor()};
  optim::State state = optimizer.Init(params);
  const std::vector<std::vector<float>> gradients = {{1, 2}, {kNan, kInf}, {3, 4}, {1, kInf}, {5, 5}, {7, 9}};
  const std::vector<std::vector<float>> wanted = {{10, 20}, {10, 20}, {8, 17}, {8, 17}, {8, 17}, {2, 10}};
  const std::vector<int32_t> not_finite = {0, 2, 0, 1, 0, 0};
  for (size_t i = 0; i < gradients.size(); ++i) {
    auto [updates, next] =
        optimizer.Update(std::vector<Tensor>{OnDevice(gradients[i], {2}), Tensor()}, state, params);
    state = std::move(next);
    params = optim::ApplyUpdates(params, updates);
    EXPECT_EQ(params[0].ToVector<float>(), wanted[i]) << i;
    EXPECT_EQ(state.parts[0].back().Item<int32_t>(), not_finite[i]) << i;
  }
  const optim::Optimizer wrong = optim::MultiSteps(
      optim::Sgd(1), 2, true, [](const auto&, const Tensor& step, const auto&) { return std::vector{step}; });
  Throws([&] { wrong.Init(params); });
  EXPECT_THAT(last_what_, HasSubstr("should_skip returns s32[] first, which is to be a scalar of pred"));
  EXPECT_THAT(last_what_, HasSubstr("optimizer_test.cc"));
}

// The update of an injected number keeps the parameter's type, and compiles once for all values.
TEST_F(Optimizer, InjectedSettingsKeepTypesAndPrograms) {
  const optim::Optimizer optimizer = optim::InjectHyperparams(
      [](const auto& h) { return optim::Adam(.1, {.b1 = h.at("b1"), .eps = h.at("eps")}); },
      {{"b1", .5}, {"eps", 1e-3}});
  std::vector<Tensor> params = {OnDevice({4}, {}).To(kBF16)};
  const std::vector<Tensor> gradient = {OnDevice({1}, {}).To(kBF16)};
  optim::State state = optimizer.Init(params);
  int64_t compiles = 0;
  for (const float b1 : {.5F, .25F, .75F, .9F}) {
    optim::Hyperparam(optimizer, state, "b1") = OnDevice({b1}, {});
    auto [updates, next] = optimizer.Update(gradient, state, params);
    EXPECT_EQ(updates[0].dtype(), kBF16);
    EXPECT_EQ(next.parts[1][0].dtype(), kBF16);
    params = optim::ApplyUpdates(params, updates);
    state = std::move(next);
    Sync();
    if (b1 == .25F) compiles = GetTraceStats().compiles;
  }
  EXPECT_EQ(GetTraceStats().compiles, compiles);
  EXPECT_EQ(KindOf(Thrown([] { optim::Trace(optim::Rate(optim::ConstantSchedule(.9))); })),
            ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("InjectHyperparams() takes one for any other setting"));
}

TEST_F(Optimizer, WrappersRefuseWhatTheyCannotDo) {
  const std::vector<Tensor> vector = {OnDevice({1, 2}, {2})};
  Throws([&] { optim::ScaleByMuon().Init(vector); });
  EXPECT_THAT(last_what_, HasSubstr("a parameter of rank 1 is not a matrix"));
  const auto refused = [](const std::function<void()>& body) {
    EXPECT_EQ(KindOf(Thrown(body)), ErrorKind::kArgument);
    EXPECT_THAT(last_what_, HasSubstr("optimizer_test.cc"));
    return last_what_;
  };
  EXPECT_THAT(refused([] { optim::MultiSteps(optim::Sgd(.1), 0); }),
              HasSubstr("every_k is 0, and must be positive"));
  EXPECT_THAT(refused([] { optim::Muon(.1, {.ns_coeffs = {}}); }), HasSubstr("at least one list"));
  EXPECT_THAT(refused([] { optim::CosineDecay(1, 0); }), HasSubstr("decay_steps (0)"));
  EXPECT_THAT(refused([] { optim::WarmupCosineDecay(0, 1, 5, 5); }), HasSubstr("decay_steps (0)"));
  EXPECT_THAT(refused([] { optim::JoinSchedules({}, {}); }), HasSubstr("0 schedules are joined"));
}

TEST_F(Optimizer, SchedulesGiveOptaxValues) {
  const auto schedules = Schedules();
  ASSERT_EQ(schedules.size(), Optax()["schedules"].size());
  for (const auto& [name, schedule] : schedules) {
    for (int count = 0; count <= 20; ++count) {
      const Tensor at = FromValues<int32_t>({count}, {}, device());
      EXPECT_NEAR(schedule(at).Item<double>(), Optax()["schedules"][name][count].get<double>(), 2e-6)
          << name << " at " << count;
    }
  }
}

TEST_F(Optimizer, AStepDoesNotRecompileForItsCountOrItsRate) {
  const auto run = [&](double rate) {
    const optim::Optimizer adam = optim::Adam(rate);
    Tree params = TreeOf(Optax()["params"], device());
    optim::State state = adam.Init(params);
    for (int step = 0; step < 4; ++step) {
      auto [updates, next] = adam.Update(TreeOf(Optax()["grads"][step], device()), state, params);
      params = optim::ApplyUpdates(params, updates);
      state = std::move(next);
      Sync();
    }
  };
  run(1e-2);
  run(3e-3);
  const int64_t compiles = GetTraceStats().compiles;
  run(5e-4);
  EXPECT_EQ(GetTraceStats().compiles, compiles);
}

TEST_F(Optimizer, TheStateOfPlaceholdersIsPlaceholders) {
  const Tree params = {{"w", Placeholder({1 << 20, 1 << 14}, kBF16, device())}};
  const SessionStats before = Account();
  for (const auto& [name, optimizer] : AllOptimizers()) {
    auto [updates, next] = optimizer.Update(params, optimizer.Init(params), params);
    EXPECT_TRUE(optim::ApplyUpdates(params, updates).at("w").is_placeholder()) << name;
  }
  EXPECT_EQ(Account().host_to_device, before.host_to_device);
}

// By hand: a leaf with a gradient is updated as if it were alone; the other leaf and its moments are
// unchanged.
TEST_F(Optimizer, AnUndefinedGradientLeavesItsParameterAndMoments) {
  for (const auto& [name, optimizer] : AllOptimizers()) {
    const Tensor used = OnDevice({1, -2, 3, 4, 5, -6}, {2, 3}), unused = OnDevice({7, 8}, {2});
    std::vector<Tensor> params = {used, unused}, alone = {used};
    optim::State state = optimizer.Init(params), state_alone = optimizer.Init(alone);
    for (int step = 0; step < 2; ++step) {
      Tensor w = params[0].Detach(), v = params[1].Detach();
      w.RequiresGrad_();
      v.RequiresGrad_();
      const std::vector<Tensor> grads = Gradients({Sum(w * w)}, {w, v});
      ASSERT_FALSE(grads[1].defined());
      auto [updates, next] = optimizer.Update(grads, state, params);
      EXPECT_FALSE(updates[1].defined()) << name;
      params = optim::ApplyUpdates(params, updates);
      state = std::move(next);
      auto [updates_alone, next_alone] = optimizer.Update(std::vector<Tensor>{grads[0]}, state_alone, alone);
      alone = optim::ApplyUpdates(alone, updates_alone);
      state_alone = std::move(next_alone);
    }
    EXPECT_EQ(params[0].ToVector<float>(), alone[0].ToVector<float>()) << name;
    EXPECT_THAT(params[1].ToVector<float>(), ElementsAre(7, 8)) << name;
  }
  const std::vector<Tensor> params = {OnDevice({1}, {1}), OnDevice({2}, {1})};
  const optim::Optimizer adam = optim::Adam(1e-2);
  const optim::State first = adam.Init(params);
  const auto [updates, next] = adam.Update(std::vector<Tensor>{OnDevice({3}, {1}), Tensor()}, first, params);
  EXPECT_EQ(next.parts[0][1].id(), first.parts[0][1].id()) << "the first moment of what has no gradient";
  EXPECT_EQ(next.parts[0][3].id(), first.parts[0][3].id()) << "the second one";
}

TEST_F(Optimizer, UpdatesThatAreNotOneForEachParameterAreRefused) {
  const std::vector<Tensor> params = {OnDevice({1}, {1}), OnDevice({2}, {1})};
  const std::vector<Tensor> updates = {OnDevice({1}, {1})};
  EXPECT_EQ(KindOf(Thrown([&] { optim::ApplyUpdates(params, updates); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("optimizer_test.cc"));
}

TEST_F(Optimizer, TreesThatDoNotFitAreNamed) {
  const optim::Optimizer adam = optim::Adam(1e-2);
  const Tree params = TreeOf(Optax()["params"], device());
  const optim::State state = optim::Sgd(0.1).Init(params);
  const absl::Status status = Thrown([&] { adam.Update(params, state, params); });
  EXPECT_EQ(KindOf(status), ErrorKind::kArgument);
}

}  // namespace
}  // namespace hlod
