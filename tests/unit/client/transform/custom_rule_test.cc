// CustomVjp and CustomJvp: every transform uses the custom rule. Expected values are computed by hand.
#include "common/hlo/text/text.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

using Pair = std::pair<Tensor, Tensor>;

class CustomRules : public TensorTest {
 protected:
  // sin with a custom gradient of 10 x ct.
  static auto Tenfold() {
    return CustomVjp([](const Tensor& x) { return Sin(x); }, [](const Tensor& x) { return Pair(Sin(x), x); },
                     [](const Tensor& x, const Tensor& ct) { return std::tuple(x * ct * 10); });
  }
  // x^3 with a custom derivative of 5 y t, where y = x^3.
  static auto Fivefold() {
    return CustomJvp([](const Tensor& x) { return x * x * x; },
                     [](const std::tuple<Tensor>& x, const std::tuple<Tensor>& t) {
                       const Tensor y = std::get<0>(x) * std::get<0>(x) * std::get<0>(x);
                       return Pair(y, y * std::get<0>(t) * 5);
                     });
  }
  static int Count(const std::string& text, const std::string& what) {
    int count = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
  }
};

TEST_F(CustomRules, AVjpReplacesTheGradient) {
  const Tensor x = OnDevice({1, 2}, {2});
  const auto f = [](const Tensor& x) { return Sum(Tenfold()(x) * 3); };
  EXPECT_NEAR(f(x).Item<float>(), 3 * (std::sin(1.0f) + std::sin(2.0f)), 1e-5);
  const Tensor gradient = Grad(f)(x);
  EXPECT_EQ(Count(Dump(gradient, DumpFormat::kHlo), " cosine("), 0);
  EXPECT_THAT(gradient.ToVector<float>(), ElementsAre(30, 60));
  EXPECT_THAT(Jit(Grad(f))(x).ToVector<float>(), ElementsAre(30, 60));
  // The second derivative is that of the custom rule: d/dx (10 x) = 10.
  EXPECT_THAT(Grad([=](const Tensor& x) { return Sum(Grad(f)(x)); })(x).ToVector<float>(),
              ElementsAre(30, 30));
  Tensor leaf = x.Clone().RequiresGrad_();
  f(leaf).Backward();
  EXPECT_THAT(leaf.Grad().ToVector<float>(), ElementsAre(30, 60));
}

TEST_F(CustomRules, AVjpOutlivesASyncAndASecondBackward) {
  Tensor leaf = OnDevice({1, 2}, {2}).RequiresGrad_();
  const Tensor loss = Sum(Tenfold()(leaf) * 3);
  static_cast<void>(loss.Item<float>());
  loss.Backward({.retain_graph = true});
  EXPECT_THAT(leaf.Grad().ToVector<float>(), ElementsAre(30, 60));
  loss.Backward();
  EXPECT_THAT(leaf.Grad().ToVector<float>(), ElementsAre(60, 120));
  Tensor other = OnDevice({1, 2}, {2}).RequiresGrad_();
  const Tensor again = Sum(Tenfold()(other) * 3);
  again.Backward({.retain_graph = true});
  again.Backward();
  EXPECT_THAT(other.Grad().ToVector<float>(), ElementsAre(60, 120));
  // Forward mode over the gradient: d/dx (30 x) = 30.
  const auto gradient = Grad([](const Tensor& x) { return Sum(Tenfold()(x) * 3); });
  const Tensor x = OnDevice({1, 2}, {2}), dx = OnDevice({1, 10}, {2});
  EXPECT_THAT(std::get<1>(Jvp(gradient, std::tuple(x), std::tuple(dx))).ToVector<float>(),
              ElementsAre(30, 300));
}

TEST_F(CustomRules, AVjpIsKeptByVmapAndScan) {
  const Tensor x = OnDevice({1, 2, 3, 4}, {2, 2});
  const auto f = [](const Tensor& x) { return Sum(Tenfold()(x)); };
  EXPECT_THAT(Vmap(Grad(f))(x).ToVector<float>(), ElementsAre(10, 20, 30, 40));
  EXPECT_THAT(Grad([=](const Tensor& x) { return Sum(Vmap(f)(x)); })(x).ToVector<float>(),
              ElementsAre(10, 20, 30, 40));
  // A sum of sines in a loop; each uses the custom rule.
  const auto summed = [](const Tensor& xs) {
    return Sum(Scan([](const Tensor& c, const Tensor& x) { return Pair(c + Tenfold()(x), x); }, xs[0] * 0, xs)
                   .first);
  };
  EXPECT_THAT(Grad(summed)(x).ToVector<float>(), ElementsAre(10, 20, 30, 40));
}

TEST_F(CustomRules, AnArgumentThatExamplesShareGetsTheSum) {
  const auto product = CustomVjp(
      [](const Tensor& x, const Tensor& w) { return x * w; },
      [](const Tensor& x, const Tensor& w) { return std::pair(x * w, Pair(x, w)); },
      [](const Pair& r, const Tensor& ct) { return std::tuple(ct * r.second, ct * r.first * 100); });
  const Tensor x = OnDevice({1, 2, 3}, {3}), w = OnDevice({5}, {});
  const auto f = [&](const Tensor& w) { return Sum(Vmap(product, {.in = {0, std::nullopt}})(x, w)); };
  EXPECT_EQ(Grad(f)(w).Item<float>(), 600);
}

TEST_F(CustomRules, ACapturedNumberAndTensorReachTheRule) {
  const Tensor scale = OnDevice({7, 7}, {2}), x = OnDevice({1, 2}, {2});
  const auto f = CustomVjp(
      [](const Tensor& x) { return x; }, [&](const Tensor& x) { return std::pair(x * 1.0, std::tuple<>()); },
      [&](const std::tuple<>&, const Tensor& ct) { return std::tuple(ct * scale * 2.5); });
  EXPECT_THAT(Grad([&](const Tensor& x) { return Sum(f(x)); })(x).ToVector<float>(), ElementsAre(17.5, 17.5));
}

TEST_F(CustomRules, AJvpServesBothModes) {
  const Tensor x = OnDevice({2}, {1});
  const auto f = [](const Tensor& x) { return Sum(Fivefold()(x)); };
  EXPECT_EQ(f(x).Item<float>(), 8);
  EXPECT_EQ(std::get<1>(Jvp(f, std::tuple(x), std::tuple(OnDevice({3}, {1})))).Item<float>(), 120);
  EXPECT_THAT(Grad(f)(x).ToVector<float>(), ElementsAre(40));
  EXPECT_THAT(Vmap(Grad(f))(OnDevice({1, 2}, {2, 1})).ToVector<float>(), ElementsAre(5, 40));
  EXPECT_THAT(
      Grad([=](const Tensor& x) { return Sum(Vmap(f)(x)); })(OnDevice({1, 2}, {2, 1})).ToVector<float>(),
      ElementsAre(5, 40));
}

TEST_F(CustomRules, WrongUseIsNamed) {
  const Tensor x = OnDevice({1, 2}, {2});
  Throws([&] { Jvp([](const Tensor& x) { return Tenfold()(x); }, std::tuple(x), std::tuple(x)); });
  EXPECT_THAT(last_what_, HasSubstr("CustomVjp(), of custom_vjp (custom_rule_test.cc:"));
  const auto wrong =
      CustomVjp([](const Tensor& x) { return Sin(x); }, [](const Tensor& x) { return Pair(Sin(x), x); },
                [](const Tensor&, const Tensor& ct) { return std::tuple(Sum(ct)); });
  Throws([&] { wrong(x); });
  EXPECT_THAT(last_what_, HasSubstr("cotangent.0 of the rule is f32[], argument.0 is f32[2]"));
  const auto squared = CustomJvp([](const Tensor& x) { return x; },
                                 [](const std::tuple<Tensor>& x, const std::tuple<Tensor>& t) {
                                   return Pair(std::get<0>(x), std::get<0>(t) * std::get<0>(t));
                                 });
  Throws([&] { Grad([&](const Tensor& x) { return Sum(squared(x)); })(x); });
  EXPECT_THAT(last_what_, HasSubstr("not linear in the tangents"));
}

}  // namespace
}  // namespace hlod
