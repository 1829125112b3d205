// Habits of PyTorch users: types of factories, operators, one number for a list of dimensions, slices in a
// loop, errors of layers that name the user's line, and a daemon that dies.
#include <cmath>
#include <complex>
#include <csignal>
#include <limits>

#include "hlod/nn/layers.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class Convenience : public TensorTest {
 protected:
  static std::string Here(int line) { return "convenience_test.cc:" + std::to_string(line); }
};

// The types are PyTorch's: torch.arange(0., 1., .25).dtype is float32, for example. Naming a device does not
// change the type.
TEST_F(Convenience, FactoriesTakeTheTypesOfTheirNumbers) {
  EXPECT_EQ(Arange(0.0, 1.0, 0.25).dtype(), kF32);
  EXPECT_THAT(Arange(0.0, 1.0, 0.25).ToVector<float>(), ElementsAre(0, 0.25, 0.5, 0.75));
  EXPECT_EQ(Arange(0, 4).dtype(), kS64);
  EXPECT_EQ(Full({1}, 16777217).Item<int64_t>(), 16777217);
  EXPECT_EQ(Full({1}, true).dtype(), kPred);
  EXPECT_EQ(Full({1}, 2.5).dtype(), kF32);
  EXPECT_EQ(Full({1}, std::complex<double>(1, 2)).Item<std::complex<double>>(), std::complex<double>(1, 2));
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_THAT(Arange(0, kLeast, kLeast / 2).ToVector<int64_t>(), ElementsAre(0, kLeast / 2));
  EXPECT_THAT(Arange(0, kLeast, kLeast).ToVector<int64_t>(), ElementsAre(0));
  const TensorOptions there = {.device = device()};
  EXPECT_EQ(Arange(0, 4, 1, there).dtype(), kS64);
  EXPECT_EQ(Randint(0, 9, {3}, there).dtype(), kS64);
  EXPECT_EQ(Randperm(4, there).dtype(), kS64);
  EXPECT_EQ(Zeros({2}, there).dtype(), kF32);
}

TEST_F(Convenience, OperatorsAreThoseOfPython) {
  const Tensor x = OnDevice({1, 2, 3}, {3});
  EXPECT_THAT((x > 1).ToVector<bool>(), ElementsAre(false, true, true));
  EXPECT_THAT((2 >= x).ToVector<bool>(), ElementsAre(true, true, false));
  EXPECT_THAT((x == 2).ToVector<bool>(), ElementsAre(false, true, false));
  EXPECT_THAT((x != x).ToVector<bool>(), ElementsAre(false, false, false));
  EXPECT_THAT((~(x < 2) & (x < 3)).ToVector<bool>(), ElementsAre(false, true, false));
  EXPECT_THAT(((x < 2) | (x > 2)).ToVector<bool>(), ElementsAre(true, false, true));
  // The result has the sign of the divisor, as in Python.
  EXPECT_THAT((-x % 2).ToVector<float>(), ElementsAre(1, 0, 1));
  const Tensor turned = x.To(kC64) * std::complex<double>(0, 1);
  EXPECT_EQ(turned[1].Item<std::complex<double>>(), std::complex<double>(0, 2));
}

TEST_F(Convenience, OneNumberIsAListOfDimensions) {
  const Tensor x = OnDevice({1, 2, 3, 4}, {2, 2});
  EXPECT_THAT(Sum(x, 1).ToVector<float>(), ElementsAre(3, 7));
  EXPECT_THAT(Sum(x, -2).ToVector<float>(), ElementsAre(4, 6));
  EXPECT_EQ(Ones(3).dims(), (Dims{3}));
  const DimList one = 5, copy = one;
  EXPECT_EQ(copy[0], 5);
  EXPECT_EQ(x.Reshape(-1).dims(), (Dims{4}));
}

// A hand-written optimizer, whose factors change with the step while its program does not.
TEST_F(Convenience, FactorsThatVaryCompileOnce) {
  Tensor x = OnDevice({1, 2}, {2}), square = OnDevice({4, 9}, {2});
  const Tensor a = OnDevice({1, 1}, {2}), m = OnDevice({1, 2, 3, 4}, {2, 2});
  std::vector<float> expected = {1, 2};
  const int64_t before = GetTraceStats().compiles;
  for (int step = 1; step <= 6; ++step) {
    const float by = 0.25f * static_cast<float>(step + 1);
    x = Add(x, a, by);
    Addcmul_(x, a, a, by);
    Addcdiv_(x, a, square, by);
    x = Addmv(x, m, a, 2.5 + by, by);
    for (size_t i = 0; i < 2; ++i) {
      const float sum = expected[i] + 2 * by + by / (i == 0 ? 4.0f : 9.0f);
      expected[i] = (2.5f + by) * sum + by * (i == 0 ? 3.0f : 7.0f);
    }
    EXPECT_THAT(x.ToVector<float>(), ElementsAre(::testing::FloatNear(expected[0], 1e-4f * expected[0]),
                                                 ::testing::FloatNear(expected[1], 1e-4f * expected[1])));
  }
  EXPECT_LE(GetTraceStats().compiles - before, 2);
  // Integers and bools keep their type.
  EXPECT_EQ(Add(Ones({2}, {.type = kS32}), Ones({2}, {.type = kS32}), 3).dtype(), kS32);
  EXPECT_EQ(KindOf(Thrown([] { Add(Ones({2}, {.type = kS32}), Ones({2}, {.type = kS32}), 0.5); })),
            ErrorKind::kArgument);
}

// The value is 1.0001^20000.
TEST_F(Convenience, ATraceOfManyNumbersClosesByItself) {
  Tensor x = Ones({1}, {.type = kF64, .device = device()});
  for (int i = 0; i < 20000; ++i) x = x * 1.0001;
  EXPECT_NEAR(x.Item<double>(), std::exp(20000 * std::log1p(0.0001)), 1e-9);
}

TEST_F(Convenience, IntegersArePrintedAsTheyAre) {
  EXPECT_THAT(FromValues<int32_t>({1234567, -2147483647}).ToString(), HasSubstr("[1234567, -2147483647]"));
  EXPECT_THAT(FromValues<uint8_t>({255}).ToString(), HasSubstr("[255]"));
  EXPECT_THAT(Mean(Zeros({0})).ToString(), HasSubstr("(nan"));
}

TEST_F(Convenience, ChainsOfViewsStayShort) {
  Tensor x = FromValues<float>({1, 2, 3, 4, 5, 6}, Dims{2, 3});
  for (int i = 0; i < 100000; ++i) x = i % 2 == 0 ? x.View({3, 2}) : x.View({2, 3});
  for (int i = 0; i < 100001; ++i) x = x.T();
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(1, 4, 2, 5, 3, 6));
  x[0][1].Fill_(9);
  EXPECT_THAT(x.ToVector<float>(), ElementsAre(1, 9, 2, 5, 3, 6));
}

TEST_F(Convenience, LeavesAreCounted) {
  struct Pair {
    Tensor a, b;
  };
  const Tensor one = Ones({1});
  EXPECT_EQ(KindOf(Thrown([&] { WithLeaves(Pair{}, {one, one}); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("a tree with 0 tensors to replace is given 2"));
  EXPECT_EQ(KindOf(Thrown([&] { WithLeaves(Pair{one, one}, {one}); })), ErrorKind::kArgument);
  EXPECT_EQ(WithAllLeaves(Pair{}, {one, Tensor()}).a.Item<float>(), 1);
}

// Two compiles: the first trace has a constant start, the second takes it as a number.
TEST_F(Convenience, SlicesWhoseStartsVaryCompileTwice) {
  std::vector<float> values(40);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Tensor data = OnDevice(values, {40});
  ResetTraceStats();
  for (int64_t i = 0; i < 40; i += 4) {
    EXPECT_EQ(Sum(data.Slice(0, i, i + 4)).Item<float>(), static_cast<float>(4 * i + 6));
  }
  EXPECT_EQ(GetTraceStats().compiles, 2);
}

TEST_F(Convenience, ALineThatSlicesSeveralTimesStaysOneProgram) {
  const Tensor data = OnDevice({1, 2, 3, 4, 5, 6}, {6});
  ResetTraceStats();
  for (int step = 0; step < 5; ++step) {
    Tensor product = Ones({2}, {.device = device()});
    for (int64_t i = 0; i < 6; i += 2) product = product * data.Slice(0, i, i + 2);
    EXPECT_THAT(product.ToVector<float>(), ElementsAre(15, 48));
  }
  EXPECT_EQ(GetTraceStats().compiles, 1);
  Tensor dumped;
  for (int64_t i = 0; i < 6; i += 2)
    dumped = dumped.defined() ? dumped + data.Slice(0, i, i + 2) : data.Slice(0, i, i + 2);
  EXPECT_EQ(Dump({dumped}, DumpFormat::kHlo).find("dynamic-slice"), std::string::npos);
}

TEST_F(Convenience, ErrorsInLayersStandAtTheLineThatCallsThem) {
  nn::Module net;
  nn::Linear linear(net, "linear", 3, 2);
  nn::Sequential many(net, "many");
  many.Add<nn::Linear>(4, 4);
  const int line = __LINE__ + 1;
  Throws([&] { linear(Ones({2, 5})); });
  EXPECT_THAT(last_what_, HasSubstr(Here(line)));
  Throws([&] { many(Ones({2, 5})); });
  EXPECT_THAT(last_what_, HasSubstr(Here(line + 2)));
  EXPECT_EQ(linear(Ones({2, 3})).dims(), (Dims{2, 2})) << "the program goes on";
}

// A scope applies to its thread until it ends. The outermost of nested scopes applies.
TEST_F(Convenience, CallersOfCompositeFunctions) {
  const Caller outer{"outer.cc", 1, ""}, inner{"inner.cc", 2, ""};
  {
    const CallerScope scope(outer);
    {
      const CallerScope nested(inner);
    }
    Throws([&] { Ones({2}) + Ones({3}); });
    EXPECT_THAT(last_what_, HasSubstr("outer.cc:1"));
  }
  Throws([&] { Ones({2}) + Ones({3}); });
  EXPECT_THAT(last_what_, HasSubstr(Here(__LINE__ - 1)));
}

struct Normed : nn::Module {
  nn::BatchNorm norm{*this, "norm", 2};
  Tensor operator()(const Tensor& x) { return norm(x); }
};

TEST_F(Convenience, FunctionalCallTakesModulesThatCount) {
  Normed net;
  const Tensor x = FromValues<float>({1, 2, 3, 6}, Dims{2, 2});
  nn::StateDict mine = net.StateDict();
  for (auto& [name, tensor] : mine) tensor = tensor.Detach().Clone();
  nn::FunctionalCall(net, mine, x);
  // 0.9 * 0 + 0.1 * mean, in the given tensors; the module's own are unchanged.
  EXPECT_NEAR(mine.at("norm.running_mean")[1].Item<float>(), 0.4f, 1e-6);
  EXPECT_EQ(net.norm.running_mean[1].Item<float>(), 0);
}

TEST_F(Convenience, WhatADonatedTensorOfTheHostWasIsRefused) {
  const auto twice = Jit([](const Tensor& x) { return x * 2; }, {.donate = {0}});
  Tensor x = Ones({2}) + 0;
  twice(x);
  EXPECT_EQ(x.state(), TensorState::kDonated);
  for (const std::function<void()>& use :
       std::vector<std::function<void()>>{[&] { x.ToHost(); }, [&] { x.ToLiteral(); }, [&] { x + 1; },
                                          [&] { x.Add_(1); }, [&] { x[0].Item<float>(); }}) {
    EXPECT_EQ(KindOf(Thrown(use)), ErrorKind::kDonated);
  }
}

TEST(ConvenienceOfLoss, SyncReportsADaemonThatHasDied) {
  testing::Daemon daemon = testing::Daemon::Start().value();
  Environment environment(daemon.Connect().value());
  Tensor w = Ones({4}, {.device = environment.device()});
  Sync();
  daemon.Kill(SIGKILL);
  absl::Status thrown;
  for (int step = 0; step < 10'000 && thrown.ok(); ++step) {
    try {
      w *= 0.99;
      Sync();
    } catch (const Error& error) {
      thrown = error.status();
    }
  }
  EXPECT_EQ(KindOf(thrown), ErrorKind::kLostSession) << thrown;
}

}  // namespace
}  // namespace hlod
