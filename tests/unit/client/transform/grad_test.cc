// Grad, ValueAndGrad, Jvp and Vjp of functions over trees. Expected values are computed by hand, or by finite
// differences.
#include <cmath>
#include <map>
#include <string>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

struct Params {
  Tensor w, b;
};

class Grads : public TensorTest {
 protected:
  static Tensor Loss(const Params& p, const Tensor& x) { return Mean(Tanh(MatMul(x, p.w) + p.b)); }
};

TEST_F(Grads, OfATreeUnderJit) {
  int runs = 0;
  const auto step = Jit(ValueAndGrad([&](const Params& p, const Tensor& x) {
    ++runs;
    return Sum(x * p.w) + Sum(p.b * p.b);
  }));
  const Params p = {OnDevice({1, 2}, {2}), OnDevice({3}, {1})};
  for (int i = 0; i < 3; ++i) {
    const auto [value, gradient] = step(p, OnDevice({10, 20}, {2}));
    EXPECT_EQ(value.Item<float>(), 59);
    EXPECT_THAT(gradient.w.ToVector<float>(), ElementsAre(10, 20));
    EXPECT_THAT(gradient.b.ToVector<float>(), ElementsAre(6));
  }
  EXPECT_EQ(runs, 1);
}

TEST_F(Grads, MatchFiniteDifferences) {
  const Params p = {FromValues<double>({0.1, -0.2, 0.3, 0.4}, Dims{2, 2}),
                    FromValues<double>({0.5, -0.6}, Dims{2})};
  const Tensor x = FromValues<double>({1, 2, 3, -1, 0.5, 0.25}, Dims{3, 2});
  const Params gradient = Grad(Loss)(p, x);
  const std::vector<double> by_w = gradient.w.ToVector<double>();
  for (int i = 0; i < 4; ++i) {
    const double h = 1e-5;
    std::vector<double> up = p.w.ToVector<double>(), down = up;
    up[i] += h;
    down[i] -= h;
    const double rise = Loss({FromValues<double>(up, Dims{2, 2}), p.b}, x).Item<double>() -
                        Loss({FromValues<double>(down, Dims{2, 2}), p.b}, x).Item<double>();
    EXPECT_NEAR(by_w[i], rise / (2 * h), 1e-8);
  }
}

TEST_F(Grads, OfOtherArgumentsAndWithOtherResults) {
  const auto f = [](const Tensor& x, const Tensor& y) {
    return std::pair(Sum(x * y), std::map<std::string, Tensor>{{"x + y", x + y}});
  };
  const Tensor x = OnDevice({1, 2}, {2}), y = OnDevice({3, 4}, {2});
  const auto [by_y, aux] = Grad<1>(f)(x, y);
  EXPECT_THAT(by_y.ToVector<float>(), ElementsAre(1, 2));
  EXPECT_THAT(aux.at("x + y").ToVector<float>(), ElementsAre(4, 6));
  const auto [result, both] = ValueAndGrad<0, 1>(f)(x, y);
  EXPECT_EQ(result.first.Item<float>(), 11);
  EXPECT_THAT(std::get<0>(both).ToVector<float>(), ElementsAre(3, 4));
  EXPECT_THAT(std::get<1>(both).ToVector<float>(), ElementsAre(1, 2));
}

TEST_F(Grads, ComposeWithThemselves) {
  const auto cube = [](const Tensor& x) { return Sum(x * x * x); };
  const Tensor x = OnDevice({2}, {1});
  const auto second = Grad([=](const Tensor& x) { return Sum(Grad(cube)(x)); });
  EXPECT_THAT(second(x).ToVector<float>(), ElementsAre(12));
  const auto third = Grad([=](const Tensor& x) { return Sum(second(x)); });
  EXPECT_THAT(Jit(third)(x).ToVector<float>(), ElementsAre(6));
}

TEST_F(Grads, WhatIsCapturedIsConstant) {
  // d/dx (x d/dy (x + y)) at x = 1, y = 1 is 1: the two derivatives must not be confused.
  const auto f = [](const Tensor& x) {
    return Sum(x * Grad([&](const Tensor& y) { return Sum(x + y); })(x));
  };
  EXPECT_THAT(Grad(f)(OnDevice({1}, {1})).ToVector<float>(), ElementsAre(1));
  const auto g = [](const Tensor& x) {
    const Tensor twice = x * 2;
    // Each factor is 2 x, so the product is 4 x x.
    return Sum(Grad([&](const Tensor& y) { return Sum(y * y * twice); })(x));
  };
  EXPECT_THAT(Grad(g)(OnDevice({3}, {1})).ToVector<float>(), ElementsAre(24));
}

TEST_F(Grads, StopAtDetachAndNoGrad) {
  const Tensor x = OnDevice({3}, {1});
  EXPECT_THAT(Grad([](const Tensor& x) { return Sum(x * x.Detach()); })(x).ToVector<float>(), ElementsAre(3));
  EXPECT_THAT(Grad([](const Tensor& x) {
                Tensor factor;
                {
                  const NoGrad scope;
                  factor = x * 2;
                }
                return Sum(x * factor);
              })(x)
                  .ToVector<float>(),
              ElementsAre(6));
  // A NoGrad scope around the whole call has no effect.
  const NoGrad scope;
  EXPECT_THAT(Grad([](const Tensor& x) { return Sum(x * x); })(x).ToVector<float>(), ElementsAre(6));
}

TEST_F(Grads, ForwardAndReverseModeOfTrees) {
  const auto f = [](const Params& p) { return std::pair(p.w * p.b, Sum(p.w)); };
  const Params p = {OnDevice({1, 2}, {2}), OnDevice({3, 4}, {2})};
  const Params dp = {OnDevice({1, 0}, {2}), OnDevice({0, 1}, {2})};
  const auto [value, tangent] = Jvp(f, std::tuple(p), std::tuple(dp));
  EXPECT_THAT(value.first.ToVector<float>(), ElementsAre(3, 8));
  EXPECT_THAT(tangent.first.ToVector<float>(), ElementsAre(3, 2));
  EXPECT_EQ(tangent.second.Item<float>(), 1);
  const auto [same, pull] = Vjp(f, std::tuple(p));
  EXPECT_EQ(same.second.Item<float>(), 3);
  const auto [by_p] = pull(std::pair(OnDevice({1, 10}, {2}), Full({}, 100.0f, {.device = device()})));
  EXPECT_THAT(by_p.w.ToVector<float>(), ElementsAre(103, 140));
  EXPECT_THAT(by_p.b.ToVector<float>(), ElementsAre(1, 20));
}

TEST_F(Grads, OfComplexNumbersFollowTheirConventions) {
  // |z|^2 at 3 + 4i: JAX's gradient is 2 conj(z), PyTorch's is 2 z.
  const auto f = [](const Tensor& z) { return Sum(Square(Abs(z))); };
  Tensor z = FromValues<std::complex<float>>({{3, 4}}, Dims{1}, device());
  EXPECT_EQ(Grad(f)(z).ToVector<std::complex<float>>()[0], std::complex<float>(6, -8));
  z.RequiresGrad_();
  f(z).Backward();
  EXPECT_EQ(z.Grad().ToVector<std::complex<float>>()[0], std::complex<float>(6, 8));
}

TEST_F(Grads, WrongUseIsNamed) {
  const Tensor x = OnDevice({1, 2}, {2});
  Throws([&] { Grad([](const Tensor& x) { return x; })(x); });
  EXPECT_THAT(last_what_, HasSubstr("a floating tensor of one element; it is f32[2]"));
  EXPECT_THAT(last_what_, HasSubstr("grad_test.cc:"));
  const std::pair<Tensor, Tensor> mixed = {x, FromValues<int64_t>({1, 2}, Dims{2}, device())};
  Throws([&] { Grad([](const std::pair<Tensor, Tensor>& p) { return Sum(p.first); })(mixed); });
  EXPECT_THAT(last_what_, HasSubstr("argument.1 is s64[2]"));
}

TEST_F(Grads, RandomNumbersOfAStepAreTheSameForwardsAndBackwards) {
  const auto step = Jit(ValueAndGrad([](const Tensor& x) { return Sum(Dropout(x, 0.5)); }));
  const Tensor x = Ones({64}, {.device = device()});
  const auto [value, gradient] = step(x);
  EXPECT_FLOAT_EQ(value.Item<float>(), Sum(gradient).Item<float>());
  const auto [next, other] = step(x);
  EXPECT_NE(gradient.ToVector<float>(), other.ToVector<float>());
}

TEST_F(Grads, OfWhatWindowsScatter) {
  // The windows, two elements each, add their source to the larger element: 1 and 2 of [5, 7, 3, 3]. Among
  // equal elements the first one is chosen.
  const LoadedFunction scattered = LoadFunctionFromBytes(R"(HloModule scattered
ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE
}
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[4] parameter(0)
  source = f32[2] parameter(1)
  zero = f32[] constant(0)
  ROOT y = f32[4] select-and-scatter(x, source, zero), window={size=2 stride=2}, select=ge, scatter=add
}
)");
  const Tensor x = OnDevice({5, 7, 3, 3}, {4}), weights = OnDevice({1, 10, 100, 1000}, {4});
  const auto f = [&](const Tensor& source) { return Sum(scattered({x, source})[0] * weights); };
  const Tensor source = OnDevice({2, 3}, {2});
  EXPECT_EQ(f(source).Item<float>(), 320);
  EXPECT_THAT(Grad(f)(source).ToVector<float>(), ElementsAre(10, 100));
  EXPECT_EQ(std::get<1>(Jvp(f, std::tuple(source), std::tuple(OnDevice({1, 1}, {2})))).Item<float>(), 110);
}

TEST_F(Grads, OfPlaceholdersArePlaceholders) {
  const Tensor w = Placeholder({8, 8}, kBF16, device());
  const Tensor gradient = Grad([](const Tensor& w) { return Sum(Relu(MatMul(w, w))); })(w);
  EXPECT_TRUE(gradient.is_placeholder());
  Tensor leaf = Placeholder({8, 8}, kBF16, device(), true);
  Sum(Relu(MatMul(leaf, leaf))).Backward();
  EXPECT_TRUE(leaf.Grad().is_placeholder());
  EXPECT_EQ(Account().host_to_device.bytes, 0);
}

}  // namespace
}  // namespace hlod
