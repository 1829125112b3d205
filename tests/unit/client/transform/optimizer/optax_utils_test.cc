// Lookahead, Polyak's steps, monitored measurements, and the functions of optim_utils.h and CTC, compared
// with Optax's results (utils.json).
#include <fstream>
#include <map>

#include "hlod/optim/optim_losses.h"
#include "hlod/optim/optim_scaling.h"
#include "hlod/optim/optim_utils.h"
#include "hlod/optim/optim_wrappers.h"
#include "nlohmann/json.hpp"
#include "tests/support/source_dir.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using nlohmann::json;
using Tree = std::map<std::string, Tensor>;

const json& Expected() {
  static const auto* const expected =
      new json(json::parse(std::ifstream(SourceDir() / "tests/unit/client/transform/optimizer/utils.json")));
  return *expected;
}

void ExpectNear(const Tensor& got, const json& wanted, const std::string& of) {
  const std::vector<float> values = got.ToVector<float>();
  ASSERT_EQ(values.size(), wanted.size()) << of;
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = wanted[i];
    EXPECT_NEAR(values[i], expected, 4e-6 * (1 + std::abs(expected))) << of << "[" << i << "]";
  }
}

class OptaxUtils : public TensorTest {
 protected:
  Tensor Of(const json& values, Dims dims) {
    return OnDevice(values.get<std::vector<float>>(), std::move(dims));
  }
  Tree TreeOf(const json& values) {
    Tree tree;
    for (const auto& [name, shape] : Expected()["shapes"].items()) {
      const auto dims = shape.get<std::vector<int64_t>>();
      tree[name] = Of(values[name], Dims(dims.begin(), dims.end()));
    }
    return tree;
  }
};

TEST_F(OptaxUtils, SlowParametersFollowTheFastOnes) {
  const std::map<std::string, optim::Optimizer> optimizers = {
      {"sgd", optim::Lookahead(optim::Sgd(0.1), 3, 0.5)},
      {"adam", optim::Lookahead(optim::Adam(0.01), 2, 0.25)},
      {"adam_reset", optim::Lookahead(optim::Adam(0.01), 3, 0.5, true)}};
  for (const auto& [name, optimizer] : optimizers) {
    using Params = optim::LookaheadParams<Tree>;
    const auto step = Jit([&](const Params& grads, const optim::State& state, const Params& params) {
      auto [updates, next] = optimizer.Update(grads, state, params);
      return std::pair(optim::ApplyUpdates(params, updates), next.parts);
    });
    Params params = optim::Synced(TreeOf(Expected()["params"]));
    optim::State state = optimizer.Init(params);
    for (const json& gradient : Expected()["grads"]) {
      std::tie(params, state.parts) = step(optim::Synced(TreeOf(gradient)), state, params);
    }
    EXPECT_EQ(step.traces(), 1) << name;
    for (const auto& [leaf, tensor] : params.fast) {
      ExpectNear(tensor, Expected()["lookahead"][name]["fast"][leaf], name + " fast " + leaf);
      ExpectNear(params.slow[leaf], Expected()["lookahead"][name]["slow"][leaf], name + " slow " + leaf);
    }
  }
}

TEST_F(OptaxUtils, LookaheadRefusesAnOddNumberOfLeavesAndAPeriodOfZero) {
  Throws([&] { optim::Lookahead(optim::Sgd(1), 3, .5).Init(OnDevice({1}, {1})); });
  EXPECT_THAT(last_what_, HasSubstr("the parameters have 1 leaves, and are not LookaheadParams"));
  EXPECT_THAT(last_what_, HasSubstr("optax_utils_test.cc"));
  Throws([&] { optim::Lookahead(optim::Sgd(1), 0, .5); });
  EXPECT_THAT(last_what_, HasSubstr("sync_period is 0, and must be positive"));
}

TEST_F(OptaxUtils, PolyaksStepsDependOnTheLoss) {
  const std::map<std::string, optim::Optimizer> optimizers = {
      {"sps", optim::PolyakSgd()},
      {"options", optim::PolyakSgd({.max_learning_rate = 0.02, .f_min = -0.5, .eps = 0.1}, 0.7)},
      {"plus", optim::PolyakSgd({.f_min = 1, .plus = true})},
      {"scale", optim::Chain({optim::ScaleByPolyak({.f_min = 1}), optim::Scale(-1)})}};
  for (const auto& [name, optimizer] : optimizers) {
    // A wrapper hands the loss on.
    const optim::Optimizer wrapped = optim::Masked(optimizer, std::vector<bool>{true, true});
    Tree params = TreeOf(Expected()["params"]);
    optim::State state = wrapped.Init(params);
    for (size_t i = 0; i < Expected()["grads"].size(); ++i) {
      const Tensor loss = Full({}, Expected()["values"][i].get<double>(), {.device = device()});
      auto [updates, next] = wrapped.Update(TreeOf(Expected()["grads"][i]), state, params, {.value = loss});
      params = optim::ApplyUpdates(params, updates);
      state = std::move(next);
    }
    for (const auto& [leaf, tensor] : params) ExpectNear(tensor, Expected()["polyak"][name][leaf], name);
  }
  const Tensor w = OnDevice({1}, {1});
  const optim::Optimizer optimizer = optim::PolyakSgd();
  Throws([&] { optimizer.Update(w, optimizer.Init(w), w); });
  EXPECT_THAT(last_what_, HasSubstr("give Update() a scalar, as in {.value = loss}"));
  EXPECT_THAT(last_what_, HasSubstr("optax_utils_test.cc"));
}

TEST_F(OptaxUtils, MeasurementsAreReadFromTheState) {
  const auto large = [](const std::vector<Tensor>& updates) { return Gt(optim::GlobalNormOf(updates), 4); };
  const optim::Optimizer optimizer = optim::Chain(
      {optim::Monitor({{"norm", optim::GlobalNormOf},
                       {"large", optim::MeasureWithEma(large, 0.9)},
                       {"plain", optim::MeasureWithEma(optim::Measure(optim::GlobalNormOf), 0.5, false)}}),
       optim::Sgd(0.1)});
  const Tree params = TreeOf(Expected()["params"]);
  optim::State state = optimizer.Init(params);
  EXPECT_EQ(optim::Measurement(optimizer, state, "norm").Item<float>(), 0);
  for (size_t i = 0; i < Expected()["grads"].size(); ++i) {
    state = optimizer.Update(TreeOf(Expected()["grads"][i]), state, params).second;
    for (const auto& [name, wanted] : Expected()["monitored"][i].items()) {
      EXPECT_NEAR(optim::Measurement(optimizer, state, name).Item<float>(), wanted.get<double>(), 1e-5)
          << name << " " << i;
    }
  }
  Throws([&] { optim::Measurement(optimizer, state, "rate"); });
  EXPECT_THAT(last_what_, HasSubstr("there is no measurement \"rate\"; there are: large, norm, plain"));
}

TEST_F(OptaxUtils, GradientsAreScaledAndValuesStay) {
  for (const double scale : {1.0, 0.0, 0.25}) {
    const Tree x = {{"a", OnDevice({1, INFINITY}, {2})}, {"b", OnDevice({3}, {1})}};
    const auto f = [&](const Tree& tree) {
      const Tree scaled = optim::ScaleGradient(tree, scale);
      return Sum(scaled.at("a") * 2) + Sum(scaled.at("b") * 4) + Sum(tree.at("b"));
    };
    const Tree gradient = Grad(f)(x);
    const float of = static_cast<float>(scale);
    EXPECT_THAT(gradient.at("a").ToVector<float>(), ElementsAre(2 * of, 2 * of));
    EXPECT_THAT(gradient.at("b").ToVector<float>(), ElementsAre(4 * of + 1));
    EXPECT_THAT(optim::ScaleGradient(x, scale).at("a").ToVector<float>(), ElementsAre(1, INFINITY));
    Tensor leaf = OnDevice({1, 2}, {2}).RequiresGrad_();
    Sum(Square(optim::ScaleGradient(leaf, scale)) + leaf).Backward();
    EXPECT_THAT(leaf.Grad().ToVector<float>(), ElementsAre(2 * of + 1, 4 * of + 1));
  }
}

TEST_F(OptaxUtils, NormalDistributionsAreOptaxs) {
  const json& normal = Expected()["normal"];
  const optim::MultiNormal distribution = {Of(normal["loc"], {4}), Of(normal["log_scale"], {2, 1})};
  const Tensor x = Of(normal["x"], {3, 2, 4});
  ExpectNear(distribution.LogProb(x), normal["log_prob"], "log_prob");
  const Tensor drawn = distribution.Sample({5}, random::Key(3, device()));
  EXPECT_EQ(drawn.dims(), (Dims{5, 2, 4}));
  ExpectNear(drawn, normal["sample"], "sample");
  const auto total = [&](const optim::MultiNormal& d) { return Sum(d.LogProb(x)); };
  const optim::MultiNormal gradients = Grad(total)(distribution);
  ExpectNear(gradients.loc, normal["gradients"][0], "gradient of loc");
  ExpectNear(gradients.log_scale, normal["gradients"][1], "gradient of log_scale");
}

TEST_F(OptaxUtils, CtcHasOptaxsForwardProbabilities) {
  const json& ctc = Expected()["ctc"];
  const Tensor logits = Of(ctc["logits"], {4, 6, 5}), paddings = Of(ctc["logit_paddings"], {4, 6});
  const Tensor labels = FromValues<int32_t>(ctc["labels"].get<std::vector<int32_t>>(), Dims{4, 4}, device());
  const Tensor label_paddings = Of(ctc["label_paddings"], {4, 4});
  for (const int64_t blank : {0, 4}) {
    const json& wanted = ctc["blank_" + std::to_string(blank)];
    const auto loss = [&](const Tensor& x) {
      return optim::CtcLossWithForwardProbs(x, paddings, labels, label_paddings, {.blank_id = blank});
    };
    const optim::CtcResult result = loss(logits);
    ExpectNear(result.loss, wanted["loss"], "loss");
    ExpectNear(result.log_alpha_blank, wanted["blanks"], "blanks");
    ExpectNear(result.log_alpha_nonblank, wanted["labels"], "labels");
    // The last example has no path; its gradient is that of rounding.
    const auto total = [&](const Tensor& x) { return Sum(loss(x).loss.Narrow(0, 0, 3)); };
    ExpectNear(Grad(total)(logits), wanted["gradient"], "gradient");
  }
  Throws([&] { optim::CtcLossWithForwardProbs(logits, paddings, labels, paddings); });
  EXPECT_THAT(last_what_, HasSubstr("the labels s32[4,4] with paddings f32[4,6]"));
}

}  // namespace
}  // namespace hlod
