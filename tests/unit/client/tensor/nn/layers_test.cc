// Layers with PyTorch's weights return PyTorch's outputs (nn/generate.py), on the host and on a device, and
// are initialised within PyTorch's bounds.
#include <cmath>

#include "tests/unit/client/tensor/nn/case.h"

namespace hlod {
namespace {

class NnLayers : public NnCase {};

TEST_F(NnLayers, AgreeWithPyTorch) {
  Root root;
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

TEST_F(NnLayers, NormalisationsAndImagesAgreeWithPyTorch) {
  Root root;
  nn::GroupNorm group_norm(root, "group_norm", 2, 4);
  Check("group_norm", group_norm, kF32, [&](auto& x) { return group_norm(x[0]); });
  nn::InstanceNorm instance_norm(root, "instance_norm", 3, 1e-5, 0.1, true);
  Check("instance_norm", instance_norm, kF32, [&](auto& x) { return instance_norm(x[0]); });
  nn::InstanceNorm tracked(root, "tracked", 2, 1e-5, 0.1, true, true);
  Check("instance_norm_tracked", tracked, kF32, [&](auto& x) { return tracked(x[0]); });
  nn::ConvTranspose conv(root, "conv", 4, 6, {3, 3},
                         {.stride = 2, .padding = 1, .output_padding = 1, .groups = 2});
  Check("conv_transpose", conv, kF32, [&](auto& x) { return conv(x[0]); });
  nn::MaxPool2d max_pool(root, "max_pool", 2, {.stride = 1, .padding = 1});
  Check("max_pool", max_pool, kF32, [&](auto& x) { return max_pool(x[0]); });
  nn::AdaptiveAvgPool2d adaptive(root, "adaptive", {2, 3});
  Check("adaptive", adaptive, kF32, [&](auto& x) { return adaptive(x[0]); });
  nn::Upsample upsample(root, "upsample", {.scale_factor = {2}, .mode = InterpolationMode::kLinear});
  Check("upsample", upsample, kF32, [&](auto& x) { return upsample(x[0]); });
}

TEST_F(NnLayers, TablesActivationsAndLossesAgreeWithPyTorch) {
  Root root;
  nn::EmbeddingBag bag(root, "bag", 7, 3);
  Check("embedding_bag", bag, kS64, [&](auto& x) { return bag(x[0], x[1]); });
  nn::Bilinear bilinear(root, "bilinear", 3, 4, 2);
  Check("bilinear", bilinear, kF32, [&](auto& x) { return bilinear(x[0], x[1]); });
  nn::Prelu prelu(root, "prelu", 3);
  Check("prelu", prelu, kF32, [&](auto& x) { return prelu(x[0]); });
  nn::CrossEntropyLoss cross_entropy(root, "cross_entropy", Ones({4}), -100, 0.1);
  Check("cross_entropy", cross_entropy, kF32, [&](auto& x) { return cross_entropy(x[0], x[1].To(kS64)); });
  nn::TripletMarginLoss triplet(root, "triplet", {.margin = 0.5, .swap = true});
  Check("triplet", triplet, kF32, [&](auto& x) { return triplet(x[0], x[1], x[2]); });
}

TEST_F(NnLayers, StartWithinPyTorchsBounds) {
  Root root;
  const nn::Linear linear(root, "linear", 64, 100);
  for (const Tensor& tensor : {linear.weight, linear.bias}) {
    for (const float value : tensor.ToVector<float>()) EXPECT_LE(std::abs(value), 1 / 8.0f);
  }
  // Uniform numbers within 1/8 have the variance (1/8)^2 / 3; the variance of 6,400 draws is within a tenth
  // of that.
  double sum = 0;
  for (const float value : linear.weight.ToVector<float>()) sum += static_cast<double>(value) * value;
  EXPECT_NEAR(sum / 6400, 1 / 192.0, 1 / 1920.0);
  const nn::Embedding embedding(root, "embedding", 50, 8, 3);
  EXPECT_THAT(embedding.weight[3].ToVector<float>(), ::testing::Each(0));
}

TEST_F(NnLayers, BatchNormFollowsTheBatchWhileTraining) {
  Root root;
  nn::BatchNorm norm(root, "norm", 1);
  norm.To(device());
  const Tensor x = OnDevice({1, 2, 3, 6}, {4, 1});
  norm(x);
  // By hand: mean 3, unbiased variance 14/3; the running statistics move a tenth of the way from 0 and 1.
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
