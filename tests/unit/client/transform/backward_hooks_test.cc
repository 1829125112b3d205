// Hooks of gradients, as torch.Tensor.register_hook and Module.register_full_backward_hook are documented;
// the numbers are hand arithmetic.
#include <optional>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

template <typename F>
concept TakesForwardHook = requires(nn::Module& module, F hook) {
  module.RegisterForwardHook(hook);
};

class BackwardHooks : public TensorTest {
 protected:
  std::vector<Device> Places() const { return {Device(), device()}; }
  static Tensor Leaf(const Device& at, const std::vector<float>& values) {
    Tensor leaf = FromValues<float>(values, Dims{static_cast<int64_t>(values.size())}, at);
    return leaf.RequiresGrad_();
  }
};

// y = x * x, z = sum(3 y + y): the hook sees the sum 4, what it leaves flows on.
TEST_F(BackwardHooks, OfAResultSeesTheSumAndMayReplaceIt) {
  for (const Device& at : Places()) {
    const Tensor x = Leaf(at, {1, 2});
    Tensor y = x * x;
    std::vector<std::vector<float>> seen;
    y.RegisterHook([&](Tensor& gradient) {
      seen.push_back(gradient.ToVector<float>());
      gradient = gradient * 10;
    });
    y.RegisterHook([&](Tensor& gradient) { seen.push_back(gradient.ToVector<float>()); });
    y.RetainGrad();
    Sum(y * 3 + y).Backward();
    EXPECT_THAT(seen, ElementsAre(ElementsAre(4, 4), ElementsAre(40, 40)));
    EXPECT_THAT(y.Grad().ToVector<float>(), ElementsAre(40, 40));
    EXPECT_THAT(x.Grad().ToVector<float>(), ElementsAre(80, 160));
  }
}

// PyTorch's hooks return the gradient to go on with, or None. The values are PyTorch 1.13's.
TEST_F(BackwardHooks, MayReturnTheGradientAsInPyTorch) {
  // A hook of a module that returns something does not compile, because its result would be lost.
  const auto returns = [](const nn::Module&, nn::Tensors, std::vector<Tensor>& out) { return out; };
  const auto replaces = [](const nn::Module&, nn::Tensors, std::vector<Tensor>& out) { out[0] = out[0] * 2; };
  static_assert(!TakesForwardHook<decltype(returns)> && TakesForwardHook<decltype(replaces)>);
  Tensor x = OnDevice({1, 2}, {2}).RequiresGrad_();
  const Tensor y = x * 3;
  y.RegisterHook([](const Tensor& gradient) { return gradient * 2; });
  GradHookHandle handle = x.RegisterHook([](const Tensor& gradient) { return gradient + 1; });
  x.RegisterHook([](const Tensor&) { return Tensor(); });
  Sum(y * y).Backward();
  EXPECT_THAT(x.Grad().ToVector<float>(), ElementsAre(37, 73));
  handle.Remove();
  Sum(x * 5).Backward();
  EXPECT_THAT(x.Grad().ToVector<float>(), ElementsAre(42, 78));
}

TEST_F(BackwardHooks, OfALeafSeesEachPassBeforeItIsAdded) {
  for (const Device& at : Places()) {
    Tensor x = Leaf(at, {1, 2});
    std::vector<std::vector<float>> seen;
    GradHookHandle handle = x.RegisterHook([&](Tensor& gradient) {
      seen.push_back(gradient.ToVector<float>());
      gradient = -gradient;
    });
    for (int i = 0; i < 2; ++i) (Sum(x * x) + Sum(x)).Backward();
    EXPECT_THAT(seen, ElementsAre(ElementsAre(3, 5), ElementsAre(3, 5)));
    EXPECT_THAT(x.Grad().ToVector<float>(), ElementsAre(-6, -10));
    EXPECT_THAT(Gradients({Sum(x * 2)}, {x})[0].ToVector<float>(), ElementsAre(-2, -2));
    handle.Remove();
    handle.Remove();
    x.ZeroGrad();
    Sum(x).Backward();
    EXPECT_THAT(x.Grad().ToVector<float>(), ElementsAre(1, 1));
    EXPECT_EQ(seen.size(), 3);
  }
}

// The gradient of x^3 by x, times 2, differentiated again: 12 x.
TEST_F(BackwardHooks, AreDifferentiatedWithAGraphOfTheGradients) {
  for (const Device& at : Places()) {
    const Tensor x = Leaf(at, {2});
    const Tensor y = x * x * x;
    y.RegisterHook([](Tensor& gradient) { gradient = gradient * 2; });
    const Tensor slope = Gradients({Sum(y)}, {x}, {.create_graph = true})[0];
    EXPECT_THAT(slope.ToVector<float>(), ElementsAre(24));
    EXPECT_THAT(Gradients({Sum(slope)}, {x})[0].ToVector<float>(), ElementsAre(24));
  }
}

TEST_F(BackwardHooks, ChangeOnlyTheirOwnGradientInPlace) {
  const Tensor a = Leaf(device(), {1}), b = Leaf(device(), {1});
  a.RegisterHook([](Tensor& gradient) { gradient.Mul_(5); });
  Sum(a + b).Backward();
  EXPECT_THAT(a.Grad().ToVector<float>(), ElementsAre(5));
  EXPECT_THAT(b.Grad().ToVector<float>(), ElementsAre(1));
}

TEST_F(BackwardHooks, WhatDoesNotFitIsRefused) {
  const Tensor x = Leaf(device(), {1, 2});
  Throws([&] { x.Detach().RegisterHook([](Tensor&) {}); });
  EXPECT_THAT(last_what_,
              HasSubstr("only a tensor that requires gradients, and is not a view, takes a hook"));
  Throws([&] { x[0].RegisterHook([](Tensor&) {}); });
  EXPECT_THAT(last_what_, HasSubstr("is not a view"));
  x.RegisterHook([](Tensor& gradient) { gradient = Sum(gradient); });
  Throws([&] { Sum(x).Backward(); });
  EXPECT_THAT(last_what_, AllOf(HasSubstr("in place of the gradient f32[2]"), HasSubstr("hooks_test.cc")));
  EXPECT_FALSE(x.Grad().defined());
}

struct Twice : nn::Module {
  using Module::Module;
  Tensor operator()(const Tensor& x, const Tensor& y, Caller caller = Caller::Here()) const {
    return Forward(caller, {x, y}, [](nn::Tensors in) { return in[0] * 2 + in[1] * in[1]; });
  }
};
struct Outer : nn::Module {
  Twice twice{*this, "twice"};
};

TEST_F(BackwardHooks, OfAModuleGetAllGradientsAndMayReplaceThoseOfInputs) {
  for (const Device& at : Places()) {
    Outer outer;
    const Tensor x = Leaf(at, {1, 2}), y = Leaf(at, {3, 4});
    std::vector<std::string> seen;
    nn::RemovableHandle handle = outer.twice.RegisterFullBackwardHook(
        [&](const nn::Module& module, std::vector<Tensor>& inputs, nn::Tensors outputs) {
          EXPECT_EQ(inputs.size(), 2);
          EXPECT_THAT(inputs[0].ToVector<float>(), ElementsAre(6, 6));
          EXPECT_THAT(inputs[1].ToVector<float>(), ElementsAre(18, 24));
          EXPECT_THAT(outputs[0].ToVector<float>(), ElementsAre(3, 3));
          seen.push_back(module.Path());
          inputs[0] = inputs[0] + 1;
        });
    Sum(outer.twice(x, y) * 3).Backward();
    EXPECT_THAT(seen, ElementsAre("twice"));
    EXPECT_THAT(x.Grad().ToVector<float>(), ElementsAre(7, 7));
    EXPECT_THAT(y.Grad().ToVector<float>(), ElementsAre(18, 24));
    handle.Remove();
    Sum(outer.twice(x, y) * 3).Backward();
    EXPECT_THAT(seen, ElementsAre("twice"));
    EXPECT_THAT(x.Grad().ToVector<float>(), ElementsAre(13, 13));
  }
}

// "If none of the module inputs require gradients, the hook will fire when the gradients with respect to
// module outputs are computed."
TEST_F(BackwardHooks, OfAModuleRunWithoutGradientsOfInputs) {
  Outer outer;
  nn::Linear linear(outer, "linear", 2, 1);
  int calls = 0;
  linear.RegisterFullBackwardHook([&](const nn::Module&, std::vector<Tensor>& inputs, nn::Tensors outputs) {
    ++calls;
    EXPECT_EQ(inputs.size(), 1);
    EXPECT_FALSE(inputs[0].defined());
    EXPECT_THAT(outputs[0].ToVector<float>(), ElementsAre(2, 2, 2));
  });
  const Tensor x = Ones({3, 2});
  Sum(linear(x) * 2).Backward();
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(linear.weight.Grad().ToVector<float>(), ElementsAre(6, 6));
  const NoGrad scope;
  EXPECT_FALSE(linear(x).requires_grad());
  EXPECT_EQ(calls, 1);
}

TEST_F(BackwardHooks, OfAModuleThatEndedDoNotRun) {
  const Tensor x = Leaf(device(), {1, 2});
  Tensor loss;
  {
    Outer outer;
    outer.twice.RegisterFullBackwardHook(
        [&](const nn::Module&, std::vector<Tensor>&, nn::Tensors) { ADD_FAILURE(); });
    loss = Sum(outer.twice(x, x));
  }
  loss.Backward();
  EXPECT_THAT(x.Grad().ToVector<float>(), ElementsAre(4, 6));
}

}  // namespace
}  // namespace hlod
