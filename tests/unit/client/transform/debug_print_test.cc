// DebugPrint: one line each time that the values are computed, with the numbers that hand arithmetic gives.
#include <iostream>
#include <stdexcept>

#include "tests/unit/client/tensor/fixture.h"

namespace hlod {
namespace {

class DebugPrints : public TensorTest {
 protected:
  void SetUp() override {
    TensorTest::SetUp();
    before_ = SetDebugPrinter([this](const std::string& line) { lines_.push_back(line); });
  }
  void TearDown() override {
    SetDebugPrinter(std::move(before_));
    TensorTest::TearDown();
  }
  std::vector<std::string> Lines() {
    Sync();
    return std::exchange(lines_, {});
  }
  std::vector<Device> Places() const { return {Device(), device()}; }
  static Tensor At(const Device& at, const std::vector<float>& values) {
    return FromValues<float>(values, Dims{static_cast<int64_t>(values.size())}, at);
  }

  DebugPrinter before_;
  std::vector<std::string> lines_;
};

TEST_F(DebugPrints, OfAProgramAppearWhenItReads) {
  const Tensor x = OnDevice({1, 2}, {2});
  Tensor y = x * 2;
  DebugPrint("y {} and {{}} {}", y, 1.5);
  y.Add_(1);
  DebugPrint("later {}", y);
  EXPECT_THAT(lines_, ElementsAre());
  EXPECT_THAT(y.ToVector<float>(), ElementsAre(3, 5));
  EXPECT_THAT(lines_, ElementsAre("y [2, 4] and {} 1.5", "later [3, 5]"));
  lines_.clear();
  DebugPrint("host {}", At(Device(), {7}));
  EXPECT_THAT(lines_, ElementsAre("host [7]"));
}

TEST_F(DebugPrints, GoOnAfterAPrinterThrew) {
  const DebugPrinter good = SetDebugPrinter([](const std::string&) { throw std::runtime_error("full"); });
  const Tensor x = OnDevice({1, 2}, {2});
  DebugPrint("lost {}", x * 2);
  EXPECT_THROW(Sync(), std::runtime_error);
  SetDebugPrinter(good);
  DebugPrint("seen {}", x * 3);
  EXPECT_THAT(Lines(), ElementsAre("seen [3, 6]"));
}

TEST_F(DebugPrints, OfAFunctionAppearPerCallWithPrimals) {
  for (const Device& at : Places()) {
    const auto f = [](const Tensor& x) {
      const Tensor y = Sin(x) * 0 + x * x;
      DebugPrint("x {} y {}", x, y);
      return Sum(y);
    };
    const auto jitted = Jit(f);
    const Tensor one = jitted(At(at, {1})), two = jitted(At(at, {2}));
    EXPECT_THAT(Lines(), ElementsAre("x [1] y [1]", "x [2] y [4]"));
    EXPECT_EQ(jitted.traces(), 1);
    const Tensor slope = Grad(f)(At(at, {3}));
    EXPECT_THAT(Lines(), ElementsAre("x [3] y [9]"));
    EXPECT_THAT(slope.ToVector<float>(), ElementsAre(6));
    const auto both = Jvp(f, std::tuple(At(at, {4})), std::tuple(At(at, {1})));
    EXPECT_THAT(Lines(), ElementsAre("x [4] y [16]"));
    EXPECT_THAT(both.second.ToVector<float>(), ElementsAre(8));
  }
}

TEST_F(DebugPrints, UnderVmapAppearPerExample) {
  for (const Device& at : Places()) {
    const auto f = [](const Tensor& x) {
      DebugPrint("{}", x);
      DebugPrint("sum {}", Sum(x));
      return Sum(x * x);
    };
    const Tensor xs = At(at, {1, 2, 3, 4}).Reshape({2, 2});
    const Tensor y = Vmap(f, {.out = -1})(xs);
    EXPECT_THAT(Lines(), ElementsAre("[1, 2]", "sum 3", "[3, 4]", "sum 7"));
    EXPECT_THAT(y.ToVector<float>(), ElementsAre(5, 25));
    const Tensor slopes = Vmap(Grad(f))(xs);
    EXPECT_THAT(Lines(), ElementsAre("[1, 2]", "sum 3", "[3, 4]", "sum 7"));
    EXPECT_THAT(slopes.ToVector<float>(), ElementsAre(2, 4, 6, 8));
  }
}

TEST_F(DebugPrints, OfLoopsAppearPerIteration) {
  for (const Device& at : Places()) {
    const auto f = [](const Tensor& start, const Tensor& xs) {
      const auto [c, ys] = Scan(
          [](const Tensor& c, const Tensor& x) {
            DebugPrint("c {}", c);
            DebugPrint("x {}", x);
            return std::pair(c + x, c * x);
          },
          start, xs);
      return c + Sum(ys);
    };
    const Tensor start = Full({}, 1, {.type = kF32, .device = at}), xs = At(at, {2, 3});
    const Tensor y = f(start, xs);
    EXPECT_THAT(Lines(), ElementsAre("c 1", "x 2", "c 3", "x 3"));
    EXPECT_EQ(y.Item<float>(), 6 + 2 + 9);
    const Tensor slope = Grad(f)(start, xs);
    EXPECT_THAT(Lines(), ElementsAre("c 1", "x 2", "c 3", "x 3"));
    EXPECT_EQ(slope.Item<float>(), 6);
    const auto nested = [&](const Tensor& x) {
      return ForiLoop(
          0, 2,
          [](const Tensor& i, const Tensor& c) {
            DebugPrint("{}: {}", i, c);
            return c * 2;
          },
          x);
    };
    const Tensor z = Vmap(nested)(xs);
    EXPECT_THAT(Lines(), ElementsAre("0: 2", "1: 4", "0: 3", "1: 6"));
    EXPECT_THAT(z.ToVector<float>(), ElementsAre(8, 12));
  }
}

TEST_F(DebugPrints, OfTheBranchThatIsTaken) {
  for (const Device& at : Places()) {
    const auto f = [](const Tensor& x) {
      return Cond(
          x > 0,
          [](const Tensor& x) {
            DebugPrint("positive {}", x);
            return x * 2;
          },
          [](const Tensor& x) {
            DebugPrint("not {} {}", x, x * 3);
            return x;
          },
          x);
    };
    const Tensor xs = At(at, {1, -1});
    const Tensor a = f(xs[0]), b = f(xs[1]);
    EXPECT_THAT(Lines(), ElementsAre("positive 1", "not -1 -3"));
    const Tensor all = Vmap(f)(xs);
    EXPECT_THAT(Lines(), ElementsAre("positive 1", "not -1 -3"));
    EXPECT_THAT(all.ToVector<float>(), ElementsAre(2, -1));
    const Tensor slope = Grad(f)(xs[0]);
    EXPECT_THAT(Lines(), ElementsAre("positive 1"));
    EXPECT_EQ(slope.Item<float>(), 2);
  }
}

TEST_F(DebugPrints, AreRefusedWhereNothingCanBeReturned) {
  const Tensor x = OnDevice({1}, {1});
  const auto body = [](const Tensor& x) {
    DebugPrint("{}", x);
    return x * 2;
  };
  Throws([&] { While([](const Tensor& x) { return Sum(x) < 5; }, body, x); });
  EXPECT_THAT(last_what_, HasSubstr("the function prints (DebugPrint)"));
  Throws([&] { Checkpoint(body)(x); });
  EXPECT_THAT(last_what_, HasSubstr("the function prints (DebugPrint)"));
  Throws([&] { DebugPrint("{} {}", x); });
  EXPECT_THAT(last_what_, HasSubstr("has 2 {} for 1 value"));
  Throws([&] { DebugPrint("{", x); });
  EXPECT_THAT(last_what_, HasSubstr("has a single brace at 0"));
  EXPECT_THAT(Lines(), ElementsAre());
}

}  // namespace
}  // namespace hlod
