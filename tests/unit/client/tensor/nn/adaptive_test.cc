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

// As in PyTorch, on the host, where values are known.
TEST_F(NnComposed, TargetsThatDoNotFitAreRefused) {
  Root root;
  const nn::AdaptiveLogSoftmaxWithLoss adaptive(root, "adaptive", 8, 12, {3, 7}, 2);
  const auto refused = [&](const Tensor& x, const std::vector<int64_t>& target, const Dims& dims) {
    Throws([&] { adaptive(x, FromValues<int64_t>(target, dims)); });
    return last_what_;
  };
  EXPECT_THAT(refused(Zeros({2, 8}), {0, 12}, {2}),
              AllOf(HasSubstr("the target's class 12 is out of range for 12 classes"),
                    HasSubstr("adaptive_test.cc")));
  EXPECT_THAT(refused(Zeros({2, 8}), {-1, 3}, {2}), HasSubstr("the target's class -1 is out of range"));
  EXPECT_THAT(refused(Zeros({2, 8}), {1}, {1}), HasSubstr("the target's shape [1] is not [2]"));
  EXPECT_THAT(refused(Zeros({2, 2, 8}), {1, 2}, {2}),
              HasSubstr("the input of shape [2, 2, 8] is neither rows"));
  Throws([&] { adaptive(Zeros({2, 8}), Zeros({2})); });
  EXPECT_THAT(last_what_, HasSubstr("the target is f32, not classes of an integer type"));
}

TEST_F(NnComposed, WrongSizesAreRefused) {
  Root root;
  Throws([&] { nn::AdaptiveLogSoftmaxWithLoss(root, "a", 8, 12, {7, 3}); });
  EXPECT_THAT(last_what_, HasSubstr("the cutoffs [7, 3] are not one or more numbers that ascend"));
  Throws([&] { nn::AdaptiveLogSoftmaxWithLoss(root, "c", 8, 12, {3}, 0); });
  EXPECT_THAT(last_what_, HasSubstr("div_value (0) is not positive"));
  Throws([&] { nn::AdaptiveLogSoftmaxWithLoss(root, "b", 3, 12, {3}); });
  EXPECT_THAT(last_what_, HasSubstr("tail 0 would have no width"));
  Throws([&] { nn::AdaptiveLogSoftmaxWithLoss(root, "d", 8, 12, {3}, 1e-30); });
  EXPECT_THAT(last_what_, HasSubstr("tail 0 would be too wide: 8 is divided by 1e-30"));
  Throws([&] { ChannelShuffle(Zeros({2, 5, 2}), 3); });
  EXPECT_THAT(last_what_, HasSubstr("the channels of shape [2, 5, 2] do not divide into 3 groups"));
}

}  // namespace
}  // namespace hlod
