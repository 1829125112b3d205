// Normalised weights, compared with PyTorch's numbers; parameters as one vector.
#include "tests/unit/client/tensor/nn/case.h"

namespace hlod {
namespace {

namespace utils = nn::utils;

class NnUtils : public NnCase {
 protected:
  // Loads the recorded state into a normalised layer and compares its outputs: in evaluation, in two training
  // calls, and after the removal.
  template <typename Layer>
  static void Agrees(const char* name, Layer& layer, const std::function<void()>& remove,
                     const Device& where) {
    const json& recorded = Cases().at(name);
    nn::StateDict state;
    for (const auto& [key, tensor] : recorded.at("state").items()) state[key] = Decode(tensor, kF32);
    layer.LoadStateDict(state);
    layer.To(where);
    const Tensor x = Decode(recorded.at("inputs")[0], kF32).To(where);
    layer.Eval();
    ExpectNear(name, recorded.at("eval"), layer(x));
    layer.Train();
    ExpectNear(name, recorded.at("first"), layer(x));
    const Tensor second = layer(x);
    ExpectNear(name, recorded.at("second"), second);
    Sum(second * second).Backward();
    for (const auto& [key, parameter] : layer.NamedParameters()) {
      ExpectNear(name + (": " + key), recorded.at("gradients").at(key), parameter.Grad());
    }
    for (const auto& [key, tensor] : layer.StateDict()) ExpectNear(key, recorded.at("after").at(key), tensor);
    remove();
    std::vector<std::string> keys;
    for (const auto& [key, tensor] : layer.NamedParameters()) keys.push_back(key);
    EXPECT_EQ(keys, recorded.at("keys").get<std::vector<std::string>>());
    ExpectNear(name, recorded.at("removed"), layer.weight);
    EXPECT_TRUE(layer.weight.is_leaf() && layer.weight.requires_grad());
  }

  template <typename Layer, typename... Args>
  void WeightNormAgrees(const char* name, std::optional<int64_t> dim, Args... args) {
    for (const Device& where : {Device(), device()}) {
      Root root;
      Layer layer(root, "layer", args...);
      utils::WeightNorm(layer, "weight", dim);
      Agrees(
          name, layer, [&] { utils::RemoveWeightNorm(layer); }, where);
    }
  }
  template <typename Layer, typename... Args>
  void SpectralNormAgrees(const char* name, const utils::SpectralNormOptions& options, Args... args) {
    for (const Device& where : {Device(), device()}) {
      Root root;
      Layer layer(root, "layer", args...);
      utils::SpectralNorm(layer, options);
      Agrees(
          name, layer, [&] { utils::RemoveSpectralNorm(layer); }, where);
    }
  }
};

TEST_F(NnUtils, WeightNormAgreesWithPyTorch) {
  WeightNormAgrees<nn::Linear>("weight_norm", 0, 3, 2);
  WeightNormAgrees<nn::Conv>("weight_norm_conv", 1, 2, 3, Dims{2});
  WeightNormAgrees<nn::Linear>("weight_norm_all", std::nullopt, 3, 2);
}

TEST_F(NnUtils, SpectralNormAgreesWithPyTorch) {
  SpectralNormAgrees<nn::Linear>("spectral_norm", {}, 3, 2);
  SpectralNormAgrees<nn::ConvTranspose>("spectral_norm_transposed", {.n_power_iterations = 3}, 2, 3, Dims{2});
}

TEST_F(NnUtils, ANormalisedWeightIsTrained) {
  Root root;
  nn::Linear linear(root, "linear", 3, 2);
  const Tensor before = linear.weight.Detach().Clone(), x = Ones({1, 3});
  utils::WeightNorm(linear);
  EXPECT_EQ(linear.NamedParameters().size(), 3u);
  const Tensor scaled = linear(x) - linear.bias;
  EXPECT_TRUE(Allclose(scaled, MatMul(x, before.T()), 1e-5, 1e-6));
  {
    const NoGrad scope;
    linear.StateDict().at("weight_g").Mul_(2);
  }
  EXPECT_TRUE(Allclose(linear(x) - linear.bias, scaled * 2, 1e-5, 1e-6));
}

TEST_F(NnUtils, WrongNamesAreNamed) {
  Root root;
  nn::Linear linear(root, "linear", 3, 2);
  const auto refused = [&](const std::function<void()>& body, const char* why) {
    EXPECT_EQ(KindOf(Thrown(body)), ErrorKind::kArgument);
    EXPECT_THAT(last_what_, HasSubstr(why));
  };
  refused([&] { utils::WeightNorm(linear, "wieght"); },
          "no parameter of its own named wieght; it has (weight, bias)");
  refused([&] { utils::WeightNorm(linear, "weight", 2); }, "weight has 2 dimensions, and none is 2");
  refused([&] { utils::RemoveWeightNorm(linear); }, "weight is not a parameter that was normalised so");
  utils::SpectralNorm(linear);
  refused([&] { utils::SpectralNorm(linear); }, "it has (bias, weight_orig)");
  refused([&] { utils::RemoveWeightNorm(linear); }, "not a parameter that was normalised so");
}

TEST_F(NnUtils, ParametersAreOneVector) {
  Root root;
  nn::Linear linear(root, "linear", 2, 1);
  utils::VectorToParameters(FromValues<float>({1, 2, 3}), linear.Parameters());
  EXPECT_THAT(linear.weight.ToVector<float>(), ElementsAre(1, 2));
  EXPECT_THAT(linear.bias.ToVector<float>(), ElementsAre(3));
  EXPECT_THAT(utils::ParametersToVector(linear.Parameters()).ToVector<float>(), ElementsAre(1, 2, 3));
  Throws([&] { utils::VectorToParameters(Ones({4}), linear.Parameters()); });
  EXPECT_THAT(last_what_, HasSubstr("3 elements, and the vector is f32[4]"));
}

}  // namespace
}  // namespace hlod
