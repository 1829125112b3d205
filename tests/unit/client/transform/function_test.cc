// Trees, the tracing of a function, Jit.
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

struct Linear {
  Tensor w, b;
};
struct Model {
  std::vector<Linear> layers;
  std::map<std::string, Tensor> extra;
  std::optional<Tensor> scale;
  int heads = 2;
};

Tensor Host(const std::vector<float>& values) { return FromValues<float>(values); }

TEST(Trees, LeavesHavePaths) {
  const Model model = {{{Host({1}), Host({2})}, {Host({3}), Tensor()}}, {{"norm", Host({4})}}, Host({5}), 2};
  EXPECT_THAT(LeafPaths(model, "params"), ElementsAre("params.0[0].0", "params.0[0].1", "params.0[1].0",
                                                      "params.1[\"norm\"]", "params.2"));
  EXPECT_EQ(Leaves(std::tuple(model, Host({6}))).size(), 6u);
}

TEST(Trees, MapKeepsTheStructure) {
  const Model model = {{{Host({1}), Host({2})}}, {{"norm", Host({4})}}, std::nullopt, 3};
  const Model doubled = MapTree([](const Tensor& x, const Tensor& y) { return x + y; }, model, model);
  EXPECT_EQ(doubled.heads, 3);
  EXPECT_THAT(doubled.layers[0].b.ToVector<float>(), ElementsAre(4));
  EXPECT_THAT(doubled.extra.at("norm").ToVector<float>(), ElementsAre(8));
}

TEST(Trees, ThatDoNotMatchNameTheLeaf) {
  const Model a = {{{Host({1}), Host({2})}}, {{"norm", Host({4})}}, std::nullopt, 3};
  const Model b = {{{Host({1}), Host({2})}}, {{"gain", Host({4})}}, std::nullopt, 3};
  try {
    MapTree([](const Tensor& x, const Tensor&) { return x; }, a, b);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("trees do not match"));
    EXPECT_THAT(error.what(), HasSubstr(".1[\"norm\"]"));
  }
}

class Functions : public TensorTest {};

TEST_F(Functions, JitRunsTheBodyOncePerSignature) {
  int runs = 0;
  const auto f = Jit([&](const Linear& p, const Tensor& x) {
    ++runs;
    return Linear{x * p.w + p.b, Sum(x)};
  });
  const Linear p = {OnDevice({1, 2}, {2}), OnDevice({10, 20}, {2})};
  EXPECT_THAT(f(p, OnDevice({3, 4}, {2})).w.ToVector<float>(), ElementsAre(13, 28));
  EXPECT_THAT(f(p, OnDevice({5, 6}, {2})).w.ToVector<float>(), ElementsAre(15, 32));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(GetTraceStats().compiles, 1);
  EXPECT_THAT(f(p, OnDevice({5}, {1})).w.ToVector<float>(), ElementsAre(15, 30));
  EXPECT_EQ(runs, 2);
}

TEST_F(Functions, JitOnTheHostEvaluates) {
  const auto f = Jit([](const Tensor& x) { return std::pair(x * 2, Sum(x)); });
  const auto [twice, sum] = f(Host({1, 2, 3}));
  EXPECT_THAT(twice.ToVector<float>(), ElementsAre(2, 4, 6));
  EXPECT_EQ(sum.Item<float>(), 6);
}

TEST_F(Functions, StaticMembersArePartOfTheSignature) {
  int runs = 0;
  const auto f = Jit([&](const Tensor& x, int n) {
    ++runs;
    return x * n;
  });
  const Tensor x = OnDevice({1, 2}, {2});
  EXPECT_THAT(f(x, 3).ToVector<float>(), ElementsAre(3, 6));
  EXPECT_THAT(f(x, 4).ToVector<float>(), ElementsAre(4, 8));
  EXPECT_THAT(f(x, 3).ToVector<float>(), ElementsAre(3, 6));
  EXPECT_EQ(runs, 2);
}

TEST_F(Functions, CapturedTensorsAreReadAgainAtEachCall) {
  Tensor w = OnDevice({1, 2}, {2});
  const auto f = Jit([&](const Tensor& x) { return x * w.Reshape({2, 1}).Reshape({2}); });
  const Tensor x = OnDevice({10, 10}, {2});
  EXPECT_THAT(f(x).ToVector<float>(), ElementsAre(10, 20));
  w.Add_(1);
  EXPECT_THAT(f(x).ToVector<float>(), ElementsAre(20, 30));
  EXPECT_EQ(f.traces(), 1);
}

TEST_F(Functions, AModuleThatWasConvertedIsTracedAgain) {
  struct Model : nn::Module {
    explicit Model(Tensor first) : weight(std::move(first)) { RegisterParameter("weight", weight); }
    Tensor weight;
  } model(OnDevice({1, 2}, {2}));
  const auto f = Jit([&](const Tensor& x) { return x * model.weight; });
  const Tensor x = OnDevice({10, 10}, {2});
  EXPECT_THAT(f(x).ToVector<float>(), ElementsAre(10, 20));
  model.To(kF64);
  {
    const NoGrad scope;
    model.weight.Add_(1);
  }
  EXPECT_THAT(f(x).ToVector<double>(), ElementsAre(20, 30));
  EXPECT_THAT(f(x).ToVector<double>(), ElementsAre(20, 30));
  EXPECT_EQ(f.traces(), 2);
}

TEST_F(Functions, ResultsMayAliasArgumentsAndBeUndefined) {
  const auto f = Jit([](const Tensor& x) { return std::tuple(x, x, Tensor(), std::optional<Tensor>()); });
  const Tensor x = OnDevice({1, 2}, {2});
  auto [a, b, c, d] = f(x);
  a.Add_(1);
  EXPECT_THAT(a.ToVector<float>(), ElementsAre(2, 3));
  EXPECT_THAT(b.ToVector<float>(), ElementsAre(1, 2));
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(1, 2));
  EXPECT_FALSE(c.defined());
  EXPECT_FALSE(d.has_value());
}

TEST_F(Functions, ReadingInsideNamesTheLine) {
  const Tensor w = OnDevice({1, 2}, {2});
  const auto f = Jit([&](const Tensor& x) {
    if (Sum(x).Item<float>() > 0) return x;
    return w;
  });
  EXPECT_EQ(KindOf(Thrown([&] { f(w); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("a value is read while the function of jit"));
  EXPECT_THAT(last_what_, HasSubstr("function_test.cc:"));
  const auto g = Jit([&](const Tensor& x) { return x * w.Item<float>(); });
  Throws([&] { Jit([&](const Tensor& x) { return x * w.Slice(0, 0, 1).Item<float>(); })(w); });
  EXPECT_THAT(last_what_, HasSubstr("a value is read"));
  Throws([&] {
    Jit([&](const Tensor& x) {
      Sync();
      return x;
    })(w);
  });
  EXPECT_THAT(last_what_, HasSubstr("Sync() is called"));
  EXPECT_THAT((w + 1).ToVector<float>(), ElementsAre(2, 3));  // The program continues after the error.
}

TEST_F(Functions, ChangingAnArgumentOrACapturedTensorIsRefused) {
  Tensor w = OnDevice({1, 2}, {2});
  Throws([&] {
    Jit([&](const Tensor& x) {
      w.Add_(x);
      return x;
    })(w);
  });
  EXPECT_THAT(last_what_, HasSubstr("changes a tensor of its surroundings f32[2]"));
  Throws([&] {
    Jit([&](Tensor x) {
      x.Select(0, 0).Add_(1);
      return x;
    })(w);
  });
  EXPECT_THAT(last_what_, HasSubstr("changes its argument f32[2]"));
  EXPECT_THAT(w.ToVector<float>(), ElementsAre(1, 2));
  const auto own = Jit([](const Tensor& x) {
    Tensor y = x.Clone();
    y.Select(0, 0).Add_(1);
    return y;
  });
  EXPECT_THAT(own(w).ToVector<float>(), ElementsAre(2, 2));
}

TEST_F(Functions, TensorsDoNotLeaveTheBody) {
  Tensor leaked;
  const Tensor x = OnDevice({1, 2}, {2});
  Jit([&](const Tensor& x) {
    leaked = x + 1;
    return x;
  })(x);
  Throws([&] { static_cast<void>((leaked + 1).ToVector<float>()); });
  EXPECT_THAT(last_what_, HasSubstr("was made while the function of jit"));
}

TEST_F(Functions, FunctionsNestAndCompose) {
  const Tensor w = OnDevice({1, 2}, {2});
  const auto inner = Jit([&](const Tensor& x) { return x * w; });
  const auto outer = Jit([&](const Tensor& x) {
    const Tensor twice = x + x;
    const auto local = Jit([&](const Tensor& y) { return y + twice; });
    return local(inner(x));
  });
  EXPECT_THAT(outer(OnDevice({10, 10}, {2})).ToVector<float>(), ElementsAre(30, 40));
  EXPECT_THAT(outer(OnDevice({1, 1}, {2})).ToVector<float>(), ElementsAre(3, 4));
}

TEST_F(Functions, DonatedArgumentsAreGone) {
  const auto f = Jit([](const Tensor& x, const Tensor& y) { return x + y; }, {.donate = {0}});
  Tensor x = OnDevice({1, 2}, {2});
  const Tensor y = OnDevice({1, 2}, {2});
  Sync();
  const int64_t before = GetTraceStats().donated;
  const Tensor sum = f(x, y);
  EXPECT_EQ(x.state(), TensorState::kDonated);
  EXPECT_THAT(sum.ToVector<float>(), ElementsAre(2, 4));
  EXPECT_EQ(GetTraceStats().donated, before + 1);
  EXPECT_EQ(KindOf(Thrown([&] { static_cast<void>(x.ToVector<float>()); })), ErrorKind::kDonated);
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(1, 2));
}

// A donated argument is consumed even by a function that does not use it.
TEST_F(Functions, DonatedArgumentsAreNotGivenAgain) {
  const auto f = Jit([](const Tensor&, const Tensor& y) { return y + 1; }, {.donate = {0}});
  const Tensor x = OnDevice({1, 2}, {2});
  static_cast<void>(f(x, x + 1));
  const absl::Status thrown = Thrown([&] { static_cast<void>(f(x, x)); });
  EXPECT_EQ(KindOf(thrown), ErrorKind::kDonated);
}

TEST_F(Functions, RandomNumbersGoOnFromCallToCall) {
  const auto f = Jit([&](const Tensor& x) { return x + Rand({2}, {.device = x.device()}); });
  const Tensor x = OnDevice({0, 0}, {2});
  Environment(*client_).ManualSeed(5);
  const std::vector<float> first = f(x).ToVector<float>(), second = f(x).ToVector<float>();
  const std::vector<float> plain = Rand({2}, {.device = device()}).ToVector<float>();
  EXPECT_NE(first, second);
  EXPECT_NE(second, plain);
  Environment(*client_).ManualSeed(5);
  EXPECT_EQ(Rand({2}, {.device = device()}).ToVector<float>(), first);
  EXPECT_EQ(f(x).ToVector<float>(), second);
  EXPECT_EQ(f.traces(), 1);
}

TEST_F(Functions, PlaceholdersGoThrough) {
  const auto f = Jit([](const Tensor& x) { return Tanh(x) * 2; });
  const Tensor y = f(Placeholder({2, 3}, kBF16, device()));
  EXPECT_TRUE(y.is_placeholder());
  EXPECT_EQ(y.dims(), (Dims{2, 3}));
}

}  // namespace
}  // namespace hlod
