// Layers made of other layers, with PyTorch's weights: outputs, losses and gradients are PyTorch's.
#include "tests/unit/client/tensor/nn/case.h"

namespace hlod {
namespace {

class NnComposed : public NnCase {};

TEST_F(NnComposed, AgreeWithPyTorch) {
  Root root;
  nn::ChannelShuffle shuffle(root, "shuffle", 3);
  Check("channel_shuffle", shuffle, kF32, [&](auto& x) { return shuffle(x[0]); });
  nn::Transformer transformer(root, "transformer", 8, 2, 1, 2, {.feedforward = 12});
  Check("transformer", transformer, kF32, [&](auto& x) { return transformer(x[0], x[1]); });
  nn::AdaptiveLogSoftmaxWithLoss adaptive(root, "adaptive", 8, 12, {3, 7}, 2, true);
  Check("adaptive_softmax", adaptive, kF32, [&](auto& x) {
    const auto [output, loss] = adaptive(x[0], x[1].To(kS64));
    return std::vector<Tensor>{output, loss};
  });
}

TEST_F(NnComposed, TheLogProbabilitiesOfAllClassesAreThoseOfTargets) {
  Root root;
  nn::AdaptiveLogSoftmaxWithLoss adaptive(root, "adaptive", 8, 12, {3, 7}, 2);
  const Tensor x = Cos(Arange(0, 40, 1, {.type = kF32})).Reshape({5, 8});
  const Tensor target = FromValues<int64_t>({0, 2, 3, 8, 11}, Dims{5});
  const Tensor all = adaptive.LogProb(x);
  EXPECT_EQ(all.dims(), (Dims{5, 12}));
  for (const float sum : Sum(Exp(all), {-1}).ToVector<float>()) EXPECT_NEAR(sum, 1, 1e-5);
  const std::vector<float> picked = Gather(all, -1, target.Unsqueeze(-1)).ToVector<float>();
  const std::vector<float> output = adaptive(x, target).output.ToVector<float>();
  for (size_t i = 0; i < picked.size(); ++i) EXPECT_NEAR(output[i], picked[i], 1e-5);
  EXPECT_EQ(adaptive.Predict(x).ToVector<int64_t>(), Argmax(all, -1).ToVector<int64_t>());
}

TEST_F(NnComposed, WrongSizesAreRefused) {
  Root root;
  Thrown([&] { nn::AdaptiveLogSoftmaxWithLoss(root, "a", 8, 12, {7, 3}); });
  EXPECT_THAT(last_what_, HasSubstr("the cutoffs are at least one, and ascend"));
  Thrown([&] { nn::AdaptiveLogSoftmaxWithLoss(root, "b", 3, 12, {3}); });
  EXPECT_THAT(last_what_, HasSubstr("tail 0 would have no width"));
  Thrown([&] { ChannelShuffle(Zeros({2, 5, 2}), 3); });
  EXPECT_THAT(last_what_, HasSubstr("the channels of shape [2, 5, 2] do not divide into 3 groups"));
}

}  // namespace
}  // namespace hlod
