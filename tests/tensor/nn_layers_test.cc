// Layers with PyTorch's weights give PyTorch's outputs (nn/generate.py), on the host and on a device; and
// start within the bounds that PyTorch initialises them in.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hlod/nn/layers.h"
#include "tests/tensor/fixture.h"

namespace hlod {
namespace {

using nlohmann::json;

const json& Cases() {
  static const json cases = json::parse(std::ifstream(HLOD_SOURCE_DIR "/tests/tensor/nn/layers.json"));
  return cases;
}

Dims DimsOf(const json& tensor) {
  const auto dims = tensor.at("dims").get<std::vector<int64_t>>();
  return Dims(dims.begin(), dims.end());
}

Tensor Decode(const json& tensor, PrimitiveType type) {
  return FromValues<double>(tensor.at("values").get<std::vector<double>>(), DimsOf(tensor)).To(type);
}

class NnLayers : public TensorTest {
 protected:
  // Loads the case's weights into `module`, calls it with the inputs, and compares.
  template <typename M, typename F>
  void Check(const char* name, M& module, PrimitiveType input_type, F&& call) {
    const json& recorded = Cases().at(name);
    nn::StateDict state;
    for (const auto& [key, tensor] : module.StateDict()) {
      ASSERT_TRUE(recorded.at("state").contains(key)) << name << ": " << key;
      state[key] = Decode(recorded.at("state").at(key), tensor.dtype());
    }
    module.LoadStateDict(state);
    module.Eval();
    for (const Device& where : {Device(), device()}) {
      module.To(where);
      std::vector<Tensor> inputs;
      for (const json& input : recorded.at("inputs")) inputs.push_back(Decode(input, input_type).To(where));
      const Tensor output = call(inputs);
      EXPECT_EQ(output.dims(), DimsOf(recorded.at("output"))) << name;
      const std::vector<float> got = output.template ToVector<float>();
      const auto expected = recorded.at("output").at("values").get<std::vector<double>>();
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(got[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << name << " element " << i;
      }
    }
  }
};

TEST_F(NnLayers, AgreeWithPyTorch) {
  struct Root : nn::Module {
  } root;
  nn::Linear linear(root, "linear", 5, 3);
  Check("linear", linear, kF32, [&](auto& x) { return linear(x[0]); });
  nn::Embedding embedding(root, "embedding", 7, 4);
  Check("embedding", embedding, kS64, [&](auto& x) { return embedding(x[0]); });
  nn::LayerNorm layer_norm(root, "layer_norm", {4});
  Check("layer_norm", layer_norm, kF32, [&](auto& x) { return layer_norm(x[0]); });
  nn::BatchNorm batch_norm(root, "batch_norm", 3);
  Check("batch_norm", batch_norm, kF32, [&](auto& x) { return batch_norm(x[0]); });
  nn::Conv conv(root, "conv", 4, 6, {3, 3}, {.stride = 2, .padding = 1, .groups = 2});
  Check("conv", conv, kF32, [&](auto& x) { return conv(x[0]); });
  nn::MultiheadAttention attention(root, "attention", 8, 2);
  Check("attention", attention, kF32, [&](auto& x) { return attention(x[0], x[1], x[2]); });
  nn::Sequential sequential(root, "sequential");
  sequential.Add<nn::Linear>(3, 4).Add([](const Tensor& x) { return Relu(x); }).Add<nn::Linear>(4, 2);
  Check("sequential", sequential, kF32, [&](auto& x) { return sequential(x[0]); });
}

TEST_F(NnLayers, StartWithinPyTorchsBounds) {
  struct Root : nn::Module {
  } root;
  const nn::Linear linear(root, "linear", 64, 100);
  for (const Tensor& tensor : {linear.weight, linear.bias}) {
    for (const float value : tensor.ToVector<float>()) EXPECT_LE(std::abs(value), 1 / 8.0f);
  }
  // Uniform within 1/8 has the variance (1/8)^2 / 3: 6,400 numbers come within a tenth of it.
  double sum = 0;
  for (const float value : linear.weight.ToVector<float>()) sum += static_cast<double>(value) * value;
  EXPECT_NEAR(sum / 6400, 1 / 192.0, 1 / 1920.0);
  const nn::Embedding embedding(root, "embedding", 50, 8, 3);
  EXPECT_THAT(embedding.weight[3].ToVector<float>(), ::testing::Each(0));
}

TEST_F(NnLayers, BatchNormFollowsTheBatchWhileTraining) {
  struct Root : nn::Module {
  } root;
  nn::BatchNorm norm(root, "norm", 1);
  norm.To(device());
  const Tensor x = OnDevice({1, 2, 3, 6}, {4, 1});
  norm(x);
  // By hand: mean 3, unbiased variance 14/3; a tenth of the way from 0 and 1.
  EXPECT_NEAR(norm.running_mean.Item<float>(), 0.3, 1e-6);
  EXPECT_NEAR(norm.running_var.Item<float>(), 0.9 + 0.1 * 14 / 3, 1e-6);
  EXPECT_EQ(norm.num_batches_tracked.Item<int64_t>(), 1);
}

TEST_F(NnLayers, DropoutIsOffInEvaluation) {
  struct Model : nn::Module {
    nn::Dropout dropout{*this, "dropout", 0.25};
  } model;
  const Tensor x = Ones({10'000}, {.device = device()});
  const std::vector<float> dropped = model.dropout(x).ToVector<float>();
  double zeros = 0;
  for (const float value : dropped) {
    EXPECT_TRUE(value == 0 || value == 1 / 0.75f) << value;
    zeros += value == 0;
  }
  EXPECT_NEAR(zeros / 10'000, 0.25, 0.02);
  model.Eval();
  EXPECT_THAT(model.dropout(x).ToVector<float>(), ::testing::Each(1));
}

}  // namespace
}  // namespace hlod
