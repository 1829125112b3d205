// sort and top-k: JAX's comparators and others, stability, NaNs, all widths, long and short lines, in place.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "common/hlo/literal.h"
#include "common/hlo/text/text.h"
#include "gtest/gtest.h"
#include "server/engine/sort/sort.h"
#include "tests/unit/server/engine/step_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;
using hlo::Shape;

// Returns JAX's comparator: it makes zeros equal and NaNs equal, then compares in total order.
std::string JaxComparator(const std::string& type, const std::string& direction = "LT") {
  return "f {\n a = " + type + "[] parameter(0)\n b = " + type + "[] parameter(1)\n nan = " + type +
         "[] constant(nan)\n zero = " + type +
         "[] constant(0)\n na = pred[] compare(a, a), direction=NE\n za = pred[] compare(a, zero), "
         "direction=EQ\n sa = " +
         type + "[] select(za, zero, a)\n ca = " + type +
         "[] select(na, nan, sa)\n nb = pred[] compare(b, b), direction=NE\n" +
         " zb = pred[] compare(b, zero), direction=EQ\n sb = " + type +
         "[] select(zb, zero, b)\n cb = " + type +
         "[] select(nb, nan, sb)\n ROOT lt = pred[] compare(ca, cb), direction=" + direction +
         ", type=TOTALORDER\n}\n";
}
std::string Plain(const std::string& type, const std::string& direction, const std::string& order = "") {
  return "f {\n a = " + type + "[] parameter(0)\n b = " + type +
         "[] parameter(1)\n ROOT lt = pred[] compare(a, b), direction=" + direction + order + "\n}\n";
}
std::string Sort(const std::string& comparator, const std::string& type, const std::string& dims,
                 int dimension) {
  return comparator + "ENTRY e {\n p0 = " + type + dims + " parameter(0)\n ROOT r = " + type + dims +
         " sort(p0), dimensions={" + std::to_string(dimension) + "}, is_stable=true, to_apply=f\n}\n";
}

TEST(Sort, EveryTypeBothWays) {
  for (const std::string type : {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "pred"}) {
    for (const std::string direction : {"LT", "GT"}) {
      ExpectStep(Sort(Plain(type, direction), type, "[100]", 0));
      ExpectStep(Sort(Plain(type, direction), type, "[5,2000]", 1));
    }
  }
  for (const std::string type : {"f32", "f64", "bf16", "f16", "f8e4m3fn", "f8e5m2", "f8e4m3b11fnuz"}) {
    ExpectStep(Sort(JaxComparator(type), type, "[100]", 0));
    ExpectStep(Sort(JaxComparator(type, "GT"), type, "[700,3]", 0));
    ExpectStep(Sort(Plain(type, "LT", ", type=TOTALORDER"), type, "[3,700,4]", 1));
    ExpectStep(Sort(Plain(type, "GT"), type, "[1000]", 0));
  }
}
TEST(Sort, LongLines) {
  ExpectStep(Sort(JaxComparator("f32"), "f32", "[70000]", 0));
  ExpectStep(Sort(Plain("s64", "LT"), "s64", "[2,40000]", 1));
}
TEST(Sort, NansAndZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const Literal odd =
      Literal::Vector<float>({0.0f, nan, -0.0f, -inf, 3, std::copysign(nan, -1.0f), inf, -0.0f, 0.0f, -2});
  ExpectStep(Sort(JaxComparator("f32"), "f32", "[10]", 0), {.arguments = {{0, odd}}});
  ExpectStep(Sort(Plain("f32", "LT", ", type=TOTALORDER"), "f32", "[10]", 0), {.arguments = {{0, odd}}});
  ExpectStep(Sort(Plain("f32", "GT", ", type=TOTALORDER"), "f32", "[10]", 0), {.arguments = {{0, odd}}});
}
// The expected values are those of numpy.sort(x, stable=True), and of -x.
TEST(Sort, NanLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const Literal x = Literal::Vector<float>({2, nan, -inf, 0.0f, std::copysign(nan, -1.0f), inf, -0.0f, -3});
  const std::string comparator = R"(f {
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    i = s32[] parameter(2)
    j = s32[] parameter(3)
    number = pred[] compare(a, a), direction=EQ
    nan = pred[] compare(b, b), direction=NE
    both = pred[] and(number, nan)
    less = pred[] compare(a, b), direction=)";
  const std::string rest = R"(
    ROOT r = pred[] or(less, both)
  }
  ENTRY e {
    p = f32[8] parameter(0)
    q = s32[8] parameter(1)
    ROOT s = (f32[8], s32[8]) sort(p, q), dimensions={0}, is_stable=true, to_apply=f
  })";
  const auto sorted = [&](const std::string& direction) {
    const Literal places = Literal::Vector<int32_t>({0, 1, 2, 3, 4, 5, 6, 7});
    return RunStepText(comparator + direction + rest, {x, places}).at(1);
  };
  EXPECT_EQ(sorted("LT"), Literal::Vector<int32_t>({2, 7, 3, 6, 0, 5, 1, 4}));
  EXPECT_EQ(sorted("GT"), Literal::Vector<int32_t>({5, 0, 3, 6, 7, 2, 1, 4}));
}
TEST(Sort, CarriesOtherOperandsStably) {
  for (const std::string dims : {"[60]", "[3000]", "[4,50,3]"}) {
    const std::string dimension = dims == "[4,50,3]" ? "1" : "0";
    ExpectStep(R"(f {
      a = s8[] parameter(0)
      b = s8[] parameter(1)
      i = s32[] parameter(2)
      j = s32[] parameter(3)
      c = c128[] parameter(4)
      d = c128[] parameter(5)
      ROOT lt = pred[] compare(a, b), direction=LT
    }
    ENTRY e {
      p0 = s8)" +
               dims + " parameter(0)\n p1 = s32" + dims + " parameter(1)\n p2 = c128" + dims +
               " parameter(2)\n ROOT r = (s8" + dims + ", s32" + dims + ", c128" + dims +
               ") sort(p0, p1, p2), dimensions={" + dimension + "}, is_stable=true, to_apply=f\n}\n");
  }
}
const char kTwoKeys[] = R"(f {
  a = s8[] parameter(0)
  b = s8[] parameter(1)
  c = f64[] parameter(2)
  d = f64[] parameter(3)
  lt1 = pred[] compare(a, b), direction=LT
  eq1 = pred[] compare(a, b), direction=EQ
  lt2 = pred[] compare(c, d), direction=GT, type=TOTALORDER
  tie = pred[] and(eq1, lt2)
  ROOT r = pred[] or(lt1, tie)
}
)";
TEST(Sort, SeveralKeys) {
  for (const std::string n : {"50", "3000"}) {
    ExpectStep(std::string(kTwoKeys) + "ENTRY e {\n p0 = s8[" + n + "] parameter(0)\n p1 = f64[" + n +
               "] parameter(1)\n ROOT r = (s8[" + n + "], f64[" + n +
               "]) sort(p0, p1), dimensions={0}, is_stable=true, to_apply=f\n}\n");
  }
}
TEST(Sort, AnyComparator) {
  // Sorts by the distance from three.
  const std::string comparator = R"(f {
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    three = f32[] constant(3)
    x = f32[] subtract(a, three)
    y = f32[] subtract(b, three)
    ax = f32[] abs(x)
    ay = f32[] abs(y)
    ROOT lt = pred[] compare(ax, ay), direction=LT
  }
)";
  for (const std::string dims : {"[1]", "[2]", "[7]", "[300]", "[5000]"})
    ExpectStep(Sort(comparator, "f32", dims, 0));
  ExpectStep(Sort(comparator, "f32", "[4,70,3]", 1));
}
TEST(Sort, AnInconsistentComparatorStaysInBounds) {
  const std::string always =
      "f {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT t = pred[] constant(true)\n}\n";
  Literal numbers(Shape::Array(hlo::kS32, {1000}));
  for (int i = 0; i < 1000; ++i) numbers.data<int32_t>()[i] = i;
  for (const Literal& result : RunStepText(Sort(always, "s32", "[1000]", 0), {numbers})) {
    std::vector<int32_t> sorted(result.data<int32_t>().begin(), result.data<int32_t>().end());
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(sorted[i], i);
  }
}
TEST(Sort, OddShapes) {
  ExpectStep(Sort(Plain("s32", "LT"), "s32", "[0]", 0));
  ExpectStep(Sort(Plain("s32", "LT"), "s32", "[3,0]", 0));
  ExpectStep(Sort(Plain("s32", "LT"), "s32", "[1,4]", 0));
}
TEST(Sort, RecognisesWhatJaxWrites) {
  const auto module = hlo::ParseModule("HloModule m\n" + Sort(JaxComparator("bf16"), "bf16", "[4]", 0));
  ASSERT_TRUE(module.ok()) << module.status();
  const auto keys = RecogniseComparator((*module)->computation(0));
  ASSERT_TRUE(keys.has_value());
  EXPECT_EQ(*keys, std::vector<SortKey>({{0, hlo::kBF16, false, true, NanOrder::kHighest}}));
}

// Returns the recognised keys of a comparator of operands of these types, with the parameters a, b (of the
// first operand), c, d, e, f and this body; nullopt when it is not recognised.
std::optional<std::vector<SortKey>> KeysOf(const std::vector<std::string>& types, const std::string& body) {
  std::string text = "HloModule m\nf {\n", operands, results;
  for (size_t i = 0; i < types.size(); ++i) {
    for (size_t side = 0; side < 2; ++side) {
      const size_t number = 2 * i + side;
      text += std::string(1, static_cast<char>('a' + number)) + " = " + types[i] + "[] parameter(" +
              std::to_string(number) + ")\n";
    }
  }
  text += body + "}\nENTRY e {\n";
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string name = "p" + std::to_string(i);
    text += name + " = " + types[i] + "[4] parameter(" + std::to_string(i) + ")\n";
    operands += (i == 0 ? "" : ", ") + name;
    results += (i == 0 ? "" : ", ") + types[i] + "[4]";
  }
  if (types.size() > 1) results = "(" + results + ")";
  text += "ROOT r = " + results + " sort(" + operands + "), dimensions={0}, is_stable=true, to_apply=f\n}\n";
  const auto module = hlo::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return std::nullopt;
  return RecogniseComparator((*module)->computation(0));
}

// The same orders, written in many different ways.
TEST(Sort, RecognisesByWhatTheComparatorAnswers) {
  using Keys = std::vector<SortKey>;
  const Keys nan_last = {{0, hlo::kF32, false, true, NanOrder::kHighest}};
  // PyTorch's order.
  EXPECT_EQ(KeysOf({"f32"}, R"(
    less = pred[] compare(a, b), direction=LT
    number = pred[] compare(a, a), direction=EQ
    nan = pred[] compare(b, b), direction=NE
    both = pred[] and(number, nan)
    ROOT r = pred[] or(less, both)
  )"),
            nan_last);
  EXPECT_EQ(KeysOf({"f32"}, R"(
    nan_a = pred[] compare(a, a), direction=NE
    nan_b = pred[] compare(b, b), direction=NE
    number = pred[] not(nan_a)
    less = pred[] compare(b, a), direction=GT
    ROOT r = pred[] select(nan_b, number, less)
  )"),
            nan_last);
  // The greatest is first; NaN is before it in one order, and after the least in the other.
  EXPECT_EQ(KeysOf({"f32"}, R"(
    less = pred[] compare(b, a), direction=LT
    number = pred[] compare(b, b), direction=EQ
    nan = pred[] compare(a, a), direction=NE
    both = pred[] and(number, nan)
    ROOT r = pred[] or(less, both)
  )"),
            Keys({{0, hlo::kF32, true, true, NanOrder::kHighest}}));
  EXPECT_EQ(KeysOf({"f32"}, R"(
    less = pred[] compare(a, b), direction=GT
    number = pred[] compare(a, a), direction=EQ
    nan = pred[] compare(b, b), direction=NE
    both = pred[] and(number, nan)
    ROOT r = pred[] or(less, both)
  )"),
            Keys({{0, hlo::kF32, true, true, NanOrder::kLowest}}));
  // Compares negated numbers, in a wider type.
  EXPECT_EQ(KeysOf({"bf16"}, R"(
    wide_a = f32[] convert(a)
    wide_b = f32[] convert(b)
    x = f32[] negate(wide_a)
    y = f32[] negate(wide_b)
    ROOT r = pred[] compare(x, y), direction=LT, type=TOTALORDER
  )"),
            Keys({{0, hlo::kBF16, true, false, NanOrder::kBySign}}));
  EXPECT_EQ(KeysOf({"pred"}, R"(
    not_a = pred[] not(a)
    ROOT r = pred[] and(not_a, b)
  )"),
            Keys({{0, hlo::kPred, false}}));
  // The comparator calls all elements equal.
  EXPECT_EQ(KeysOf({"s32", "f32"}, R"(
    zero = s32[] constant(0)
    ROOT r = pred[] compare(zero, zero), direction=LT
  )"),
            Keys());
}

TEST(Sort, RecognisesTies) {
  using Keys = std::vector<SortKey>;
  // Ties are ordered by index, and NaN is last.
  const Keys by_value_and_place = {{0, hlo::kF64, false, true, NanOrder::kHighest}, {1, hlo::kS64, false}};
  const std::string parts = R"(
    less = pred[] compare(a, b), direction=LT
    equal = pred[] compare(a, b), direction=EQ
    nan_a = pred[] compare(a, a), direction=NE
    nan_b = pred[] compare(b, b), direction=NE
    number = pred[] not(nan_a)
    before_nan = pred[] and(number, nan_b)
    before = pred[] or(less, before_nan)
    both_nan = pred[] and(nan_a, nan_b)
    tie = pred[] or(equal, both_nan)
    earlier = pred[] compare(c, d), direction=LT
  )";
  EXPECT_EQ(KeysOf({"f64", "s64"}, parts + "ROOT r = pred[] select(tie, earlier, before)\n"),
            by_value_and_place);
  EXPECT_EQ(KeysOf({"f64", "s64"}, parts + R"(
    second = pred[] and(earlier, tie)
    ROOT r = pred[] or(second, before)
  )"),
            by_value_and_place);
  // The second operand is the first key; elements of it that are neither less nor greater are equal.
  EXPECT_EQ(KeysOf({"u8", "s16", "f16"}, R"(
    less = pred[] compare(c, d), direction=LT
    greater = pred[] compare(d, c), direction=LT
    u8_greater = pred[] compare(a, b), direction=GT
    not_greater = pred[] not(greater)
    second = pred[] and(not_greater, u8_greater)
    ROOT r = pred[] or(less, second)
  )"),
            Keys({{1, hlo::kS16, false}, {0, hlo::kU8, true}}));
}

TEST(Sort, LeavesOtherComparatorsAlone) {
  const std::string bodies[] = {
      "ROOT r = pred[] compare(a, b), direction=LE\n",
      "x = f32[] abs(a)\n y = f32[] abs(b)\n ROOT r = pred[] compare(x, y), direction=LT\n",
      "x = f32[] negate(a)\n ROOT r = pred[] compare(x, b), direction=LT\n",
      // NaN is less than all numbers, and all numbers are less than NaN.
      "x = pred[] compare(a, b), direction=GE\n ROOT r = pred[] not(x)\n",
      // Three is greater than all other numbers.
      R"(three = f32[] constant(3)
         x = pred[] compare(a, three), direction=NE
         y = pred[] compare(b, three), direction=EQ
         z = pred[] and(x, y)
         w = pred[] compare(a, b), direction=LT
         ROOT r = pred[] or(z, w))",
      "ROOT r = pred[] constant(true)\n",
  };
  for (const std::string& body : bodies) EXPECT_FALSE(KeysOf({"f32"}, body).has_value()) << body;
  EXPECT_FALSE(KeysOf({"u8"},
                      "x = u8[] convert(a)\n y = s8[] convert(b)\n z = s8[] convert(x)\n"
                      "ROOT r = pred[] compare(z, y), direction=LT\n")
                   .has_value());
  EXPECT_FALSE(KeysOf({"f32", "f32"}, "ROOT r = pred[] compare(a, d), direction=LT\n").has_value());
}

TEST(SortTopK, LargestAndSmallest) {
  for (const std::string type : {"f32", "bf16", "s32", "u8", "f64"}) {
    for (const std::string largest : {"true", "false"}) {
      ExpectStep("ENTRY e {\n p0 = " + type + "[5,300] parameter(0)\n ROOT r = (" + type +
                 "[5,7], s32[5,7]) topk(p0), k=7, largest=" + largest + "\n}\n");
    }
  }
  ExpectStep(
      "ENTRY e {\n p0 = f32[9] parameter(0)\n ROOT r = (f32[9], s32[9]) topk(p0), k=9, largest=true\n}\n");
  ExpectStep(
      "ENTRY e {\n p0 = f32[9] parameter(0)\n ROOT r = (f32[0], s32[0]) topk(p0), k=0, largest=true\n}\n");
}
// Lines longer than the block that is collected at once: rising, falling and repeating, with few and many
// results.
TEST(SortTopK, OfLongLinesWhatIsFoundLaterCounts) {
  constexpr int64_t kLength = 5000;
  const std::function<int32_t(int64_t)> lines[] = {
      [](int64_t i) { return static_cast<int32_t>(i); }, [](int64_t i) { return static_cast<int32_t>(-i); },
      [](int64_t i) { return static_cast<int32_t>(i * 7919 % 5003); },
      [](int64_t i) { return static_cast<int32_t>(i * i % 17); }};
  for (const auto& line : lines) {
    std::vector<int32_t> values;
    for (int64_t i = 0; i < kLength; ++i) values.push_back(line(i));
    Literal operand(Shape::Array(hlo::kS32, {kLength}));
    std::copy(values.begin(), values.end(), operand.data<int32_t>().begin());
    std::vector<int32_t> places(kLength);
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(),
                     [&](int32_t a, int32_t b) { return values[a] > values[b]; });
    for (const int64_t k : {1, 100, 700, 4000, 5000}) {
      const std::string n = std::to_string(k);
      const auto result = RunStepText("ENTRY e {\n p0 = s32[5000] parameter(0)\n ROOT r = (s32[" + n +
                                          "], s32[" + n + "]) topk(p0), k=" + n + ", largest=true\n}\n",
                                      {operand});
      ASSERT_EQ(result.size(), 2u);
      const auto found = result[1].data<int32_t>();
      EXPECT_TRUE(std::equal(found.begin(), found.end(), places.begin(), places.begin() + k)) << k;
    }
  }
}

// Several blocks of keys, with the largest numbers at their borders. Places are by hand: of 0, 4095, 4096,
// 599,999 and the others, the numbers are 3, 9, 9, 7 and at most 2.
TEST(SortTopK, OfVeryLongLines) {
  Literal operand(Shape::Array(hlo::kF32, {600'000}));
  const auto values = operand.data<float>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 3);
  values[0] = 3;
  values[4095] = values[4096] = 9;
  values[599'999] = 7;
  const auto result = RunStepText(
      "ENTRY e {\n p0 = f32[600000] parameter(0)\n ROOT r = (f32[6], s32[6]) topk(p0), k=6, "
      "largest=true\n}\n",
      {operand});
  ASSERT_EQ(result.size(), 2u);
  EXPECT_EQ(result[0], Literal::Vector<float>({9, 9, 7, 3, 2, 2}));
  EXPECT_EQ(result[1], Literal::Vector<int32_t>({4095, 4096, 599'999, 0, 2, 5}));
}

TEST(SortTopK, TiesGoByPlace) {
  const auto result = RunStepText(
      "ENTRY e {\n p0 = f32[6] parameter(0)\n ROOT r = (f32[3], s32[3]) topk(p0), k=3, largest=true\n}\n",
      {Literal::Vector<float>({1, 5, 5, 0, 5, 5})});
  ASSERT_EQ(result.size(), 2u);
  EXPECT_EQ(result[0], Literal::Vector<float>({5, 5, 5}));
  EXPECT_EQ(result[1], Literal::Vector<int32_t>({1, 2, 4}));
}

}  // namespace
}  // namespace hlod::engine
