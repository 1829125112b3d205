// Backward(): PyTorch's rules for leaves, history, in-place updates and scopes. Expected values are computed
// by hand.
#include <cmath>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class Backward : public TensorTest {
 protected:
  Tensor Leaf(const std::vector<float>& values, Dims dims) {
    return OnDevice(values, std::move(dims)).RequiresGrad_();
  }
  static std::vector<float> GradOf(const Tensor& x) { return x.Grad().ToVector<float>(); }
};

TEST_F(Backward, GradientsAddUpUntilTheyAreZeroed) {
  Tensor w = Leaf({1, 2}, {2});
  Sum(w * w).Backward();
  EXPECT_THAT(GradOf(w), ElementsAre(2, 4));
  Sum(w * 3).Backward();
  EXPECT_THAT(GradOf(w), ElementsAre(5, 7));
  w.ZeroGrad();
  EXPECT_FALSE(w.Grad().defined());
}

TEST_F(Backward, HistoryFollowsValues) {
  Tensor w = Leaf({1, 2}, {2});
  const Tensor plain = OnDevice({1, 1}, {2});
  EXPECT_TRUE(w.is_leaf());
  EXPECT_FALSE((plain * 2).requires_grad());
  const Tensor y = w * plain;
  EXPECT_TRUE(y.requires_grad());
  EXPECT_FALSE(y.is_leaf());
  EXPECT_FALSE(y.Detach().requires_grad());
  EXPECT_FALSE(Gt(w, 1).requires_grad());
  {
    const NoGrad scope;
    EXPECT_FALSE((w * 2).requires_grad());
  }
  EXPECT_EQ(KindOf(Thrown([&] { Sum(plain).Backward(); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("does not require gradients"));
  EXPECT_EQ(KindOf(Thrown([&] { y.Backward(); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("more than one element"));
  y.Backward({.gradient = OnDevice({10, 100}, {2})});
  EXPECT_THAT(GradOf(w), ElementsAre(10, 100));
}

TEST_F(Backward, DetachedOperandsAreConstants) {
  Tensor x = Leaf({2, 3}, {2});
  Sum(x * x.Detach()).Backward();
  EXPECT_THAT(GradOf(x), ElementsAre(2, 3));
  x.ZeroGrad();
  Sum(x.Detach() * x * x).Backward();
  EXPECT_THAT(GradOf(x), ElementsAre(8, 18));
}

TEST_F(Backward, TheSecondTimeNeedsRetainGraph) {
  Tensor x = Leaf({2}, {1});
  Tensor y = Sum(x * x);
  y.Backward({.retain_graph = true});
  y.Backward();
  EXPECT_THAT(GradOf(x), ElementsAre(8));
  EXPECT_EQ(KindOf(Thrown([&] { y.Backward(); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("retain_graph"));
}

TEST_F(Backward, ALeafIsUpdatedInPlaceInNoGradOnly) {
  Tensor w = Leaf({1, 2}, {2});
  EXPECT_EQ(KindOf(Thrown([&] { w.Add_(1); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("requires gradients is updated in place"));
  EXPECT_EQ(KindOf(Thrown([&] { w.Select(0, 0).Add_(1); })), ErrorKind::kArgument);
  EXPECT_THAT(w.ToVector<float>(), ElementsAre(1, 2));
  {
    const NoGrad scope;
    w.Sub_(0.5);
  }
  EXPECT_TRUE(w.requires_grad());
  Sum(w * w).Backward();
  EXPECT_THAT(GradOf(w), ElementsAre(1, 3));
}

TEST_F(Backward, UpdatesInPlaceAreDifferentiated) {
  Tensor x = Leaf({1, 2, 3, 4}, {2, 2});
  Tensor y = x * 2;
  y.Select(0, 0).Mul_(OnDevice({10, 10}, {2}));  // [[20, 40], [6, 8]]
  y += x;
  Sum(y * y).Backward();  // y = [[21, 42], [9, 12]]; dy/dx = [[21, 21], [3, 3]].
  EXPECT_THAT(GradOf(x), ElementsAre(2 * 21 * 21, 2 * 42 * 21, 2 * 9 * 3, 2 * 12 * 3));
  // A buffer requires gradients after a part that requires gradients is assigned to it.
  x.ZeroGrad();
  Tensor buffer = OnDevice({0, 0, 0}, {3});
  buffer.Slice(0, 1, 3).Copy_(x.Select(0, 1));
  EXPECT_TRUE(buffer.requires_grad());
  Sum(buffer * OnDevice({5, 6, 7}, {3})).Backward();
  EXPECT_THAT(GradOf(x), ElementsAre(0, 0, 6, 7));
}

TEST_F(Backward, ViewsLeadToTheirBase) {
  Tensor x = Leaf({1, 2, 3, 4, 5, 6}, {2, 3});
  Sum(x.T().Slice(0, 1, 3) * OnDevice({1, 2, 3, 4}, {2, 2})).Backward();
  EXPECT_THAT(GradOf(x), ElementsAre(0, 1, 3, 0, 2, 4));
  x.ZeroGrad();
  x.Select(0, 1).Backward({.gradient = OnDevice({7, 8, 9}, {3})});
  EXPECT_THAT(GradOf(x), ElementsAre(0, 0, 0, 7, 8, 9));
  // A view may itself be a leaf.
  const Tensor base = OnDevice({1, 2, 3, 4}, {2, 2});
  Tensor row = base.Select(0, 1).Detach().RequiresGrad_();
  Sum(row * row).Backward();
  EXPECT_THAT(GradOf(row), ElementsAre(6, 8));
  EXPECT_FALSE(base.requires_grad());
}

TEST_F(Backward, ReadsAndSyncsBetweenChangeNothing) {
  Tensor w = Leaf({1, 2}, {2});
  Tensor h = Exp(w);
  Sync();
  Tensor y = Sum(Softmax(h * w, 0) * OnDevice({1, 3}, {2}));
  const float loss = y.Item<float>();
  y.Backward();
  // p = softmax(w e^w); d loss / d z = p (c - loss); d z / d w = e^w (1 + w).
  const double z0 = std::exp(1.0), z1 = 2 * std::exp(2.0), p1 = 1 / (1 + std::exp(z0 - z1)), p0 = 1 - p1;
  EXPECT_NEAR(loss, p0 + 3 * p1, 1e-5);
  const std::vector<float> gradient = GradOf(w);
  EXPECT_NEAR(gradient[0], p0 * (1 - loss) * 2 * std::exp(1.0), 1e-4);
  EXPECT_NEAR(gradient[1], p1 * (3 - loss) * 3 * std::exp(2.0), 1e-4);
}

TEST_F(Backward, GradientsOfGradients) {
  Tensor x = Leaf({2, 3}, {2});
  const Tensor gradient = Gradients({Sum(x * x * x)}, {x}, {.create_graph = true})[0];
  EXPECT_THAT(gradient.ToVector<float>(), ElementsAre(12, 27));
  Sum(gradient).Backward();  // 6 x
  EXPECT_THAT(GradOf(x), ElementsAre(12, 18));
}

TEST_F(Backward, RetainGradKeepsTheGradientOfAResult) {
  Tensor x = Leaf({2, 3}, {2});
  Tensor y = x * 4;
  y.RetainGrad();
  Sum(y * y).Backward();
  EXPECT_THAT(GradOf(y), ElementsAre(16, 24));
  EXPECT_THAT(GradOf(x), ElementsAre(64, 96));
}

TEST_F(Backward, HostTensorsAndMovesBetweenDevices) {
  Tensor x = FromValues<float>({2, 3}, Dims{2}).RequiresGrad_();
  Sum(x * x).Backward();
  EXPECT_THAT(GradOf(x), ElementsAre(4, 6));
  x.ZeroGrad();
  const Tensor moved = x.To(device());
  EXPECT_TRUE(moved.requires_grad());
  EXPECT_FALSE(moved.is_leaf());
  Sum(moved * OnDevice({5, 7}, {2})).Backward();
  EXPECT_THAT(GradOf(x), ElementsAre(5, 7));
  EXPECT_TRUE(x.Grad().device().is_host());
}

TEST_F(Backward, GoesThroughTracedFunctions) {
  Tensor w = Leaf({2, 3}, {2});
  const auto f = Jit([&](const Tensor& x) { return x * w * w; });
  Tensor x = Leaf({1, 10}, {2});
  Sum(f(x)).Backward();
  EXPECT_THAT(GradOf(x), ElementsAre(4, 9));
  EXPECT_THAT(GradOf(w), ElementsAre(4, 60));
  // Inside a function Backward() reaches the leaves of that function only.
  EXPECT_THAT(Jit([](const Tensor& y) {
                Tensor leaf = y.Detach().RequiresGrad_();
                Sum(leaf * leaf).Backward();
                return leaf.Grad();
              })(OnDevice({3}, {1}))
                  .ToVector<float>(),
              ElementsAre(6));
  Throws([&] {
    Jit([&](const Tensor& y) {
      Sum(w * y).Backward();
      return y;
    })(OnDevice({1, 1}, {2}));
  });
  EXPECT_THAT(last_what_, HasSubstr("use Grad()"));
}

TEST_F(Backward, CostsWhatGradCosts) {
  const Tensor x = OnDevice(std::vector<float>(12, 0.5f), {4, 3});
  const auto loss = [&](const Tensor& w) { return Mean(Softmax(Tanh(MatMul(x, w)), 1) * x); };
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  Tensor w = Leaf(values, {3, 3});
  loss(w).Backward();
  const Tensor same = OnDevice(values, {3, 3});
  const Tensor gradient = Grad(loss)(same);
  EXPECT_EQ(Lower({w.Grad()})->instruction_count(), Lower({gradient})->instruction_count());
  EXPECT_EQ(GradOf(w), gradient.ToVector<float>());
}

struct Mlp : nn::Module {
  nn::Linear up{*this, "up", 4, 16}, down{*this, "down", 16, 3};
  Tensor operator()(const Tensor& x) const { return down(Relu(up(x))); }
};

TEST_F(Backward, TrainsAModelWithOneProgramAStep) {
  ManualSeed(3);
  Mlp model;
  model.To(device());
  const Tensor x = Randn({32, 4}, {.device = device()});
  const Tensor target = Argmax(MatMul(x, Randn({4, 3}, {.device = device()})), 1);
  std::vector<float> losses;
  for (int step = 0; step < 30; ++step) {
    if (step == 3) ResetTraceStats();
    const Tensor loss = CrossEntropy(model(x), target);
    model.ZeroGrad();
    loss.Backward();
    {
      const NoGrad scope;
      for (Tensor& parameter : model.Parameters()) parameter -= 0.5 * parameter.Grad();
    }
    losses.push_back(loss.Item<float>());
  }
  EXPECT_LT(losses.back(), losses.front() / 2);
  EXPECT_EQ(GetTraceStats().compiles, 0);
  EXPECT_EQ(GetTraceStats().closes, 27);
  EXPECT_GE(GetTraceStats().donated, 4 * 27);  // The old parameters of every step.
}

TEST_F(Backward, LongChainsEndWithoutRecursion) {
  Tensor x = Leaf({1}, {1});
  Tensor y = x;
  for (int i = 0; i < 20000; ++i) y = y + 1;
  Sum(y).Backward();
  EXPECT_THAT(GradOf(x), ElementsAre(1));
  Tensor z = x;
  for (int i = 0; i < 20000; ++i) z = z + 1;  // Traces that are dropped without Backward().
}

}  // namespace
}  // namespace hlod
