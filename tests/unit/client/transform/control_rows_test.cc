// The acceptance rows of scan and the other control flow. Expected values are computed by hand.
#include "hlod/transform/control.h"

#include "common/hlo/text/text.h"
#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class ControlRows : public TensorTest {
 protected:
  Tensor Rows() { return OnDevice({1, 2, 3, 4, 5, 6}, {3, 2}); }
};

using Pair = std::pair<Tensor, Tensor>;
Pair Accumulate(const Tensor& carry, const Tensor& x) {
  const Tensor next = carry + x;
  return {next, next};
}

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Acceptance row SC1.
TEST_F(ControlRows, CumulativeSum) {
  for (const bool on_device : {true, false}) {
    const Tensor xs = on_device ? Rows() : Rows().ToHost();
    const auto [carry, ys] = Scan(Accumulate, xs[0] * 0, xs);
    EXPECT_THAT(carry.ToVector<float>(), ElementsAre(9, 12));
    EXPECT_THAT(ys.ToVector<float>(), ElementsAre(1, 2, 4, 6, 9, 12));
  }
  const Tensor xs = Rows();
  const auto [carry, ys] = Scan(Accumulate, xs[0] * 0, xs, {.reverse = true});
  EXPECT_THAT(carry.ToVector<float>(), ElementsAre(9, 12));
  EXPECT_THAT(ys.ToVector<float>(), ElementsAre(9, 12, 8, 10, 5, 6));
}

// Acceptance row SC2.
TEST_F(ControlRows, TracingMovesNothing) {
  const Tensor xs = Rows(), zero = OnDevice({0, 0}, {2});
  const SessionStats before = Account();
  const auto [carry, ys] =
      Scan([](const Tensor& c, const Tensor& x) { return Pair(Sin(c) + x, Sin(x)); }, zero, xs);
  EXPECT_EQ(Account().executes, before.executes);
  Sync();
  EXPECT_EQ(Account().host_to_device, before.host_to_device);
  EXPECT_EQ(Account().executes, before.executes + 1);
}

// Acceptance row SC4.
TEST_F(ControlRows, TheProgramDoesNotGrowWithTheNumberOfTurns) {
  int64_t sizes[2];
  for (const int64_t turns : {4, 400}) {
    const Tensor xs = Placeholder({turns, 8}, kF32, device()), zero = Placeholder({8}, kF32, device());
    const auto [carry, ys] =
        Scan([](const Tensor& c, const Tensor& x) { return Pair(Tanh(c * x + c), x); }, zero, xs);
    const std::string text = hlo::ToText(*Lower({carry, ys}));
    EXPECT_EQ(Count(text, " scan("), 1);
    EXPECT_EQ(Count(text, " tanh("), 1);
    sizes[turns == 400] = Lower({carry, ys})->instruction_count();
  }
  EXPECT_EQ(sizes[0], sizes[1]);
}

// Acceptance row SC7.
TEST_F(ControlRows, RandomNumbersDifferFromTurnToTurnAndRepeatWithTheSeed) {
  const Tensor xs = Zeros({8, 4}, {.type = kF32, .device = device()});
  const auto draw = [&] {
    ManualSeed(7);
    const Tensor zero = Zeros({}, {.type = kF32, .device = device()});
    const auto [carry, ys] =
        Scan([](const Tensor& c,
                const Tensor& x) { return Pair(c, Rand({4}, {.type = kF32, .device = x.device()}) + x); },
             zero, xs);
    const Tensor after = Rand({4}, {.type = kF32, .device = device()});
    std::vector<float> values = ys.ToVector<float>();
    for (const float value : after.ToVector<float>()) values.push_back(value);
    return values;
  };
  const std::vector<float> first = draw();
  EXPECT_EQ(first, draw());
  for (size_t turn = 0; turn < 9; ++turn) {
    for (size_t other = 0; other < turn; ++other) {
      EXPECT_NE(std::vector<float>(first.begin() + 4 * turn, first.begin() + 4 * turn + 4),
                std::vector<float>(first.begin() + 4 * other, first.begin() + 4 * other + 4))
          << turn << " and " << other;
    }
  }
}

// Acceptance row SC8.
TEST_F(ControlRows, WhatDoesNotFitIsNamed) {
  const Tensor xs = Rows(), zero = OnDevice({0, 0}, {2});
  const int64_t compiles = GetTraceStats().compiles;
  const auto refused = [&](const std::function<void()>& body, const char* why) {
    EXPECT_EQ(KindOf(Thrown(body)), ErrorKind::kArgument) << why;
    EXPECT_THAT(last_what_, HasSubstr(why));
    EXPECT_THAT(last_what_, HasSubstr("control_rows_test.cc")) << why;
  };
  refused([&] { Scan(Accumulate, zero, OnDevice({1}, {})); }, "scalar");
  refused(
      [&] {
        Scan([](const Tensor& c, const std::pair<Tensor, Tensor>& x) { return Pair(c + x.first, x.second); },
             zero, std::pair<Tensor, Tensor>(xs, OnDevice({1, 2}, {1, 2})));
      },
      "has 1 slices");
  refused(
      [&] { Scan([](const Tensor& c, const std::tuple<>&) { return Pair(c, c); }, zero, std::tuple<>()); },
      "xs holds no tensor");
  refused([&] { Scan([](const Tensor& c, const Tensor& x) { return Pair(Sum(c), x); }, zero, xs); },
          "the body returns it as f32[]");
  refused([&] { Scan([](const Tensor& c, const Tensor& x) { return Pair(c.To(kBF16), x); }, zero, xs); },
          "the body returns it as bf16[2]");
  EXPECT_EQ(GetTraceStats().compiles, compiles);
  // The program continues after the error.
  EXPECT_THAT(Scan(Accumulate, zero, xs).first.ToVector<float>(), ElementsAre(9, 12));
}

// Acceptance row SC9.
TEST_F(ControlRows, CapturedTensorsAreReadAnew) {
  Tensor scale = OnDevice({2, 3}, {2});
  const Tensor xs = Rows(), zero = OnDevice({0, 0}, {2});
  const SessionStats before = Account();
  const auto body = [&](const Tensor& c, const Tensor& x) {
    return Pair(c + x * scale, Zeros({2}, {.type = kF32, .device = x.device()}) + c);
  };
  const auto [carry, ys] = Scan(body, zero, xs);
  EXPECT_EQ(Account().device_to_host, before.device_to_host);
  EXPECT_THAT(carry.ToVector<float>(), ElementsAre(18, 36));
  EXPECT_THAT(ys.ToVector<float>(), ElementsAre(0, 0, 2, 6, 8, 18));
}

// Acceptance row SC10.
TEST_F(ControlRows, OutputsMayAliasInputsAndDifferInType) {
  const Tensor xs = Rows(), zero = OnDevice({0, 0}, {2});
  struct Outputs {
    Tensor carry, x;
    std::optional<Tensor> nothing;
    Tensor integer;
  };
  const auto [carry, ys] =
      Scan([](const Tensor& c,
              const Tensor& x) { return std::pair<Tensor, Outputs>(c, {c, x, std::nullopt, x.To(kS32)}); },
           zero, xs);
  EXPECT_THAT(carry.ToVector<float>(), ElementsAre(0, 0));
  EXPECT_THAT(ys.carry.ToVector<float>(), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(ys.x.ToVector<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_FALSE(ys.nothing.has_value());
  EXPECT_THAT(ys.integer.ToVector<int32_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

// Acceptance row SC11.
TEST_F(ControlRows, ASecondCallWithOtherValuesDoesNotCompile) {
  const Tensor zero = OnDevice({0, 0}, {2});
  Tensor scale = OnDevice({2, 3}, {2});
  const auto run = [&](const Tensor& xs) {
    return Scan([&](const Tensor& c, const Tensor& x) { return Pair(c + x * scale, c); }, zero, xs)
        .first.ToVector<float>();
  };
  EXPECT_THAT(run(Rows()), ElementsAre(18, 36));
  const int64_t compiles = GetTraceStats().compiles;
  scale = OnDevice({1, 1}, {2});
  EXPECT_THAT(run(Rows()), ElementsAre(9, 12));
  EXPECT_EQ(GetTraceStats().compiles, compiles);
  EXPECT_THAT(run(OnDevice({1, 2, 3, 4}, {2, 2})), ElementsAre(4, 6));
  EXPECT_EQ(GetTraceStats().compiles, compiles + 1);
}

TEST_F(ControlRows, ReadingAndWritingInABodyIsRefused) {
  const Tensor xs = Rows();
  Tensor zero = OnDevice({0, 0}, {2}), outside = OnDevice({1, 1}, {2});
  const absl::Status read = Thrown([&] {
    Scan(
        [](const Tensor& c, const Tensor& x) {
          c.ToHost();
          return Pair(c, x);
        },
        zero, xs);
  });
  EXPECT_EQ(KindOf(read), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("while the function of scan"));
  EXPECT_THAT(last_what_, HasSubstr("control_rows_test.cc"));
  Throws([&] {
    Scan(
        [&](const Tensor& c, const Tensor& x) {
          outside += x;
          return Pair(c, x);
        },
        zero, xs);
  });
  EXPECT_THAT(last_what_, HasSubstr("in place"));
  EXPECT_THAT(outside.ToVector<float>(), ElementsAre(1, 1));
}

// Acceptance row SC13.
TEST_F(ControlRows, NoSlicesGiveTheCarryAndEmptyStacks) {
  const Tensor zero = OnDevice({5, 6}, {2}), none = Zeros({0, 2}, {.type = kF32, .device = device()});
  const auto [carry, ys] = Scan(Accumulate, zero, none);
  EXPECT_THAT(carry.ToVector<float>(), ElementsAre(5, 6));
  EXPECT_EQ(ys.dims(), (Dims{0, 2}));
  EXPECT_THAT(ys.ToVector<float>(), ElementsAre());
}

struct Layer {
  Tensor w, b;
};

// Acceptance row SC14.
TEST_F(ControlRows, LayersInALoopGiveWhatTheyGiveInARow) {
  std::vector<Layer> layers;
  for (int i = 1; i <= 3; ++i) {
    const auto f = static_cast<float>(i);
    layers.push_back({OnDevice({f, 0, 0, 1}, {2, 2}), OnDevice({1, f}, {2})});
  }
  const auto block = [](const Layer& layer, const Tensor& x) { return MatMul(x, layer.w) + layer.b; };
  const Tensor x = OnDevice({1, 1}, {1, 2});
  Tensor sequential = x;
  for (const Layer& layer : layers) sequential = block(layer, sequential);
  const Tensor looped = ScanLayers(block, layers, x);
  EXPECT_EQ(looped.ToVector<float>(), sequential.ToVector<float>());
  EXPECT_EQ(ScanLayers(block, std::vector<Layer>(), x).id(), x.id());
  layers[1].b = OnDevice({1}, {1});
  EXPECT_EQ(KindOf(Thrown([&] { ScanLayers(block, layers, x); })), ErrorKind::kArgument);
  EXPECT_THAT(last_what_, HasSubstr("layer.1 is f32[2] in layer 0, and in layer 1 f32[1]"));
  // Layers of placeholders are stacked to one placeholder.
  std::vector<Layer> abstract;
  for (int i = 0; i < 3; ++i)
    abstract.push_back({Placeholder({2, 2}, kF32, device()), Placeholder({2}, kF32, device())});
  EXPECT_TRUE(ScanLayers(block, abstract, x).is_placeholder());
}

TEST_F(ControlRows, LoopsNest) {
  const Tensor xs = Rows(), zero = OnDevice({0, 0}, {2});
  const auto [carry, ys] = Scan(
      [&](const Tensor& c, const Tensor& x) {
        const Tensor inner = Scan(Accumulate, c, xs).first;  // inner is c + [9, 12].
        return Pair(inner + x, inner);
      },
      zero, xs);
  EXPECT_THAT(carry.ToVector<float>(), ElementsAre(36, 48));
}

TEST_F(ControlRows, WhileRunsAsLongAsItsConditionHolds) {
  for (const bool on_device : {true, false}) {
    const Tensor x = on_device ? OnDevice({1}, {}) : FromValues<float>({1}, Dims{});
    const Tensor limit = on_device ? OnDevice({100}, {}) : FromValues<float>({100}, Dims{});
    const Tensor doubled =
        While([&](const Tensor& v) { return Lt(v, limit); }, [](const Tensor& v) { return v * 2; }, x);
    EXPECT_EQ(doubled.Item<float>(), 128);
  }
}

TEST_F(ControlRows, ForiLoopCounts) {
  const Tensor zero = OnDevice({0}, {});
  const Tensor sum = ForiLoop(3, 7, [](const Tensor& i, const Tensor& c) { return c + i.To(kF32); }, zero);
  EXPECT_EQ(sum.Item<float>(), 18);
  EXPECT_EQ(ForiLoop(3, 3, [](const Tensor&, const Tensor& c) { return c; }, zero).id(), zero.id());
}

TEST_F(ControlRows, CondRunsOneOfTwo) {
  const Tensor x = OnDevice({2, 3}, {2}), scale = OnDevice({10, 10}, {2});
  const auto pick = [&](bool which) {
    const Tensor predicate = FromValues<bool>({which}, Dims{}, device());
    return Cond(
               predicate, [&](const Tensor& v) { return v * scale; }, [](const Tensor& v) { return v - 1; },
               x)
        .ToVector<float>();
  };
  EXPECT_THAT(pick(true), ElementsAre(20, 30));
  EXPECT_THAT(pick(false), ElementsAre(1, 2));
  using Branch = std::function<Tensor(const Tensor&)>;
  const std::vector<Branch> branches = {[](const Tensor& v) { return v + 1; },
                                        [](const Tensor& v) { return v * v; },
                                        [](const Tensor& v) { return v * 0; }};
  const auto choose = [&](int64_t index) {
    return Switch(FromValues<int64_t>({index}, Dims{}, device()), branches, x).ToVector<float>();
  };
  EXPECT_THAT(choose(0), ElementsAre(3, 4));
  EXPECT_THAT(choose(1), ElementsAre(4, 9));
  EXPECT_THAT(choose(9), ElementsAre(0, 0));
  EXPECT_THAT(choose(-5), ElementsAre(3, 4));
  Throws([&] {
    Cond(
        FromValues<bool>({true}, Dims{}, device()), [](const Tensor& v) { return v; },
        [](const Tensor& v) { return Sum(v); }, x);
  });
  EXPECT_THAT(last_what_, HasSubstr("f32[2] in the first branch, and in another one f32[]"));
}

}  // namespace
}  // namespace hlod
