// reduce-window and select-and-scatter: pooling, cumulative sums, large and odd windows, any reducer,
// compared with the evaluator.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/hlo/literal.h"
#include "common/hlo/text/text.h"
#include "gtest/gtest.h"
#include "tests/unit/server/engine/step_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;

std::string Reducer(const std::string& name, const std::string& op, const std::string& type,
                    const std::string& result) {
  const std::string attributes = result == "pred" ? ", direction=" + op : "";
  return name + " {\n " + name + "a = " + type + "[] parameter(0)\n " + name + "b = " + type +
         "[] parameter(1)\n ROOT " + name + "c = " + result + "[] " + (result == "pred" ? "compare" : op) +
         "(" + name + "a, " + name + "b)" + attributes + "\n}\n";
}
void Check(const std::string& op, const std::string& type, const std::string& in, const std::string& out,
           const std::string& window, double rtol = 1e-5, double atol = 1e-4) {
  ExpectStep(Reducer("f", op, type, type) + "ENTRY e {\n p0 = " + type + in + " parameter(0)\n p1 = " + type +
                 "[] parameter(1)\n ROOT r = " + type + out + " reduce-window(p0, p1), window={" + window +
                 "}, to_apply=f\n}\n",
             {.rtol = rtol, .atol = atol});
}

TEST(ReduceWindow, Pooling) {
  for (const std::string type : {"f32", "f64", "s32"}) {
    Check("maximum", type, "[3,12,12,8]", "[3,6,6,8]", "size=1x2x2x1 stride=1x2x2x1");
    Check("maximum", type, "[3,8,12,13]", "[3,8,6,7]", "size=1x1x2x3 stride=1x1x2x2 pad=0_0x0_0x0_0x1_1");
    Check("add", type, "[3,12,12,8]", "[3,10,10,8]", "size=1x3x3x1");
  }
  Check("maximum", "bf16", "[3,12,12,8]", "[3,6,6,8]", "size=1x2x2x1 stride=1x2x2x1");
  Check("add", "bf16", "[2,6,6,3]", "[2,5,5,3]", "size=1x2x2x1", 2e-2, 0.25);
  Check("add", "f32", "[2,9,10,5]", "[2,9,6,5]", "size=1x2x3x1 stride=1x1x2x1 pad=0_0x1_0x2_1x0_0");
  Check("maximum", "f32", "[20,64,64,16]", "[20,32,32,16]", "size=1x2x2x1 stride=1x2x2x1");
}
// A NaN spreads, and of two zeros the maximum is the positive one and the minimum the negative one, whichever
// comes first (IEEE 754's maximum and minimum).
TEST(ReduceWindow, ExtremaOfZerosAndNaNs) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> first = {0.0F, -0.0F, nan, 1, -0.0F, 2, -1, nan},
                           second = {-0.0F, 0.0F, 1, nan, -0.0F, 1, -2, nan};
  Literal both(hlo::Shape::Array(hlo::kF32, {2, 8}));
  std::copy(first.begin(), first.end(), both.data<float>().begin());
  std::copy(second.begin(), second.end(), both.data<float>().begin() + 8);
  for (const std::string op : {"maximum", "minimum"}) {
    const bool greatest = op == "maximum";
    const std::vector<Literal> results = RunStepText(
        Reducer("f", op, "f32", "f32") +
            "ENTRY e {\n p0 = f32[2,8] parameter(0)\n p1 = f32[] parameter(1)\n ROOT r = f32[1,8] "
            "reduce-window(p0, p1), window={size=2x1}, to_apply=f\n}\n",
        {both, Literal::Scalar<float>(greatest ? -INFINITY : INFINITY)});
    ASSERT_EQ(results.size(), 1u);
    const auto values = results[0].data<float>();
    for (const size_t i : {size_t{2}, size_t{3}, size_t{7}}) EXPECT_TRUE(std::isnan(values[i])) << op << i;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      EXPECT_EQ(values[i], 0) << op << i;
      EXPECT_EQ(std::signbit(values[i]), !greatest) << op << i;
    }
    EXPECT_TRUE(std::signbit(values[4])) << op;
    EXPECT_EQ(values[5], greatest ? 2 : 1);
    EXPECT_EQ(values[6], greatest ? -1 : -2);
  }
}
TEST(ReduceWindow, PairsOfColumns) {
  for (const std::string type : {"f32", "f64", "f16", "s8", "u16", "s64"}) {
    for (const std::string window : {"size=2x2 stride=2x2", "size=1x3 stride=1x2"}) {
      const std::string out = window == "size=2x2 stride=2x2" ? "[3,1400]" : "[7,1399]";
      Check("maximum", type, "[7,2800]", out, window);
    }
    Check("maximum", type, "[6,2801]", "[3,1401]", "size=2x2 stride=2x2 pad=0_0x1_0");
    Check("maximum", type, "[6,2801]", "[3,1401]", "size=2x2 stride=2x2 pad=0_0x0_1");
  }
  Check("multiply", "f64", "[6,46]", "[3,23]", "size=2x2 stride=2x2");
}
// Outputs that are computed in registers: lanes and rows that fill no vector, more lanes than a block, edges
// of all widths, and windows that are wider than the operand.
TEST(ReduceWindow, OutputsInRegisters) {
  for (const std::string type : {"f32", "f64", "s32"}) {
    Check("add", type, "[2,9,7,43]", "[2,9,7,43]", "size=1x3x3x1 pad=0_0x1_1x1_1x0_0");
    Check("add", type, "[2,3,9,75]", "[2,3,9,75]", "size=1x1x3x5 pad=0_0x0_0x1_1x2_2");
    Check("add", type, "[3,9,11]", "[3,3,11]", "size=1x3x1 stride=1x3x1");
    Check("add", type, "[3,9,11]", "[3,6,11]", "size=1x3x1 stride=1x2x1 pad=0_0x2_2x0_0");
    Check("add", type, "[5,6,9]", "[8,11,9]", "size=2x3x1 pad=0_0x1_1x0_0 lhs_dilate=2x2x1");
  }
  Check("maximum", "f32", "[4,2100]", "[5,2100]", "size=2x1 pad=1_1x0_0");
  Check("add", "f32", "[2,4096]", "[1,4096]",
        "size=2x1 stride=1099511627776x1 pad=1099511627774_0x0_0 rhs_dilate=1099511627775x1");
  Check("add", "f32", "[5,3,8]", "[5,9,8]", "size=1x7x1 pad=0_0x6_6x0_0");
  Check("add", "f32", "[5,20,3]", "[5,13,3]", "size=1x3x1 pad=0_0x-2_-1x0_0 rhs_dilate=1x2x1");
}
// Windows of many positions that are joined in registers: with edges, side by side, and of lanes.
TEST(ReduceWindow, LargeWindowsInRegisters) {
  for (const std::string type : {"f32", "f64", "s32"}) {
    for (const std::string op : {"add", "maximum"}) {
      Check(op, type, "[40,70]", "[34,64]", "size=7x7");
      Check(op, type, "[40,70]", "[40,70]", "size=7x7 pad=3_3x3_3");
      Check(op, type, "[300]", "[237]", "size=64");
      Check(op, type, "[2,24,24,8]", "[2,3,3,8]", "size=1x8x8x1 stride=1x8x8x1");
      Check(op, type, "[30,40]", "[20,30]", "size=11x11 pad=0_0x0_0");
    }
  }
  Check("add", "bf16", "[20,40]", "[14,34]", "size=7x7", 2e-2, 1);
}

TEST(ReduceWindow, DilationNegativePaddingAndHoles) {
  Check("add", "f32", "[10,11]", "[6,5]", "size=3x3 stride=1x2 rhs_dilate=2x1");
  Check("add", "f32", "[5,6]", "[8,11]", "size=2x3 pad=0_0x1_1 lhs_dilate=2x2");
  Check("add", "f32", "[10,11]", "[7,6]", "size=2x3 pad=-1_-1x-2_-1");
  Check("add", "f32", "[4]", "[3]", "size=7 pad=4_1 rhs_dilate=1");
  Check("add", "f32", "[10,3]", "[10,3]", "size=1x1");
  Check("add", "f32", "[]", "[]", "");
  Check("add", "f32", "[4]", "[0]", "size=7");
}
TEST(ReduceWindow, CumulativeBothWays) {
  for (const std::string type : {"f32", "s32", "f64", "u8"}) {
    Check("add", type, "[100]", "[100]", "size=100 pad=99_0");
    Check("add", type, "[100]", "[100]", "size=100 pad=0_99");
    Check("add", type, "[5,100]", "[5,100]", "size=1x100 pad=0_0x99_0");
    Check("add", type, "[100,5]", "[100,5]", "size=100x1 pad=0_99x0_0");
    Check("maximum", type, "[3,50,7]", "[3,50,7]", "size=1x50x1 pad=0_0x49_0x0_0");
  }
  Check("multiply", "f64", "[40]", "[40]", "size=40 pad=39_0");
  Check("add", "bf16", "[40]", "[40]", "size=40 pad=39_0", 5e-2, 1);
  Check("add", "f32", "[300,700]", "[300,700]", "size=1x700 pad=0_0x699_0", 1e-4, 1e-1);
}
TEST(ReduceWindow, CumulativeInShortLines) {
  for (const std::string type : {"f32", "s32", "bf16"}) {
    const double rtol = type == "bf16" ? 5e-2 : 1e-5;
    if (type != "bf16") Check("multiply", type, "[70,20]", "[70,20]", "size=1x20 pad=0_0x19_0");
    Check("maximum", type, "[7,9,5]", "[7,9,5]", "size=1x9x1 pad=0_0x0_8x0_0");
    Check("add", type, "[12,33]", "[12,33]", "size=12x1 pad=11_0x0_0", rtol, type == "bf16" ? 1 : 1e-4);
  }
}
TEST(ReduceWindow, CumulativeOfTheSmallestTypes) {
  for (const std::string type : {"s4", "u4", "s2", "u2"}) {
    for (const std::string op : {"add", "multiply", "maximum", "minimum"}) {
      Check(op, type, "[5,100]", "[5,100]", "size=1x100 pad=0_0x99_0");
      Check(op, type, "[40,50]", "[43,30]", "size=9x40 pad=5_6x20_-1");
    }
  }
  for (const std::string type : {"f8e4m3fn", "f8e5m2", "f8e5m2fnuz"}) {
    Check("maximum", type, "[5,100]", "[5,100]", "size=1x100 pad=0_0x99_0");
    Check("minimum", type, "[5,100]", "[5,100]", "size=1x100 pad=0_0x0_99");
  }
}
// Both forms of lanes, more lines than a block has, and two dimensions outside.
constexpr std::pair<const char*, const char*> kRunningWindows[] = {
    {"[7,40]", "size=1x40 pad=0_0x39_0"},           {"[7,40]", "size=1x40 pad=0_0x0_39"},
    {"[40,7]", "size=40x1 pad=39_0x0_0"},           {"[40,7]", "size=40x1 pad=0_39x0_0"},
    {"[40,64]", "size=40x1 pad=39_0x0_0"},          {"[40,64]", "size=40x1 pad=0_39x0_0"},
    {"[3,50,5]", "size=1x50x1 pad=0_0x49_0x0_0"},   {"[3,50,33]", "size=1x50x1 pad=0_0x0_49x0_0"},
    {"[1100,18]", "size=1x18 pad=0_0x17_0"},        {"[1100,18]", "size=1x20 pad=0_0x19_0"},
    {"[2,20,1100]", "size=1x20x1 pad=0_0x0_19x0_0"}};

TEST(ReduceWindow, RunningResultsOfAnyReducer) {
  for (const auto& [shape, window] : kRunningWindows) {
    // JAX's cumlogsumexp.
    ExpectStep(std::string(R"(f {
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      d = f32[] subtract(a, b)
      nan = pred[] compare(d, d), direction=NE
      s = f32[] add(a, b)
      m = f32[] maximum(a, b)
      g = f32[] abs(d)
      n = f32[] negate(g)
      x = f32[] exponential(n)
      l = f32[] log-plus-one(x)
      t = f32[] add(m, l)
      ROOT r = f32[] select(nan, s, t)
    }
    ENTRY e {
      p0 = f32)") + shape +
                   " parameter(0)\n p1 = f32[] parameter(1)\n ROOT r = f32" + shape +
                   " reduce-window(p0, p1), window={" + window + "}, to_apply=f\n}\n",
               {.rtol = 2e-5, .atol = 2e-5});
    // The last of two, which is associative, but does not commute.
    ExpectStep(
        std::string("f {\n a = s16[] parameter(0)\n ROOT b = s16[] parameter(1)\n}\nENTRY e {\n p0 = s16") +
        shape + " parameter(0)\n p1 = s16[] parameter(1)\n ROOT r = s16" + shape +
        " reduce-window(p0, p1), window={" + window + "}, to_apply=f\n}\n");
  }
}
TEST(ReduceWindow, RunningMaximaWithTheirPlaces) {
  for (const auto& [shape, window] : kRunningWindows) {
    const std::string in = shape;
    ExpectStep(
        "f {\n a = f64[] parameter(0)\n i = s32[] parameter(1)\n b = f64[] parameter(2)\n"
        " j = s32[] parameter(3)\n g = pred[] compare(a, b), direction=GE\n v = f64[] select(g, a, b)\n"
        " k = s32[] select(g, i, j)\n ROOT t = (f64[], s32[]) tuple(v, k)\n}\nENTRY e {\n p0 = f64" +
        in + " parameter(0)\n p1 = s32" + in + " parameter(1)\n p2 = f64[] parameter(2)\n p3 = s32[] " +
        "parameter(3)\n ROOT r = (f64" + in + ", s32" + in + ") reduce-window(p0, p1, p2, p3), window={" +
        window + "}, to_apply=f\n}\n");
  }
}
TEST(ReduceWindow, CumulativeByHand) {
  const auto result = RunStepText(Reducer("f", "add", "f32", "f32") + R"(ENTRY e {
    p0 = f32[40] parameter(0)
    p1 = f32[] parameter(1)
    ROOT r = f32[40] reduce-window(p0, p1), window={size=40 pad=39_0}, to_apply=f
  })",
                                  {[] {
                                     Literal ones(hlo::Shape::Array(hlo::kF32, {40}));
                                     for (float& x : ones.data<float>()) x = 2;
                                     return ones;
                                   }(),
                                   Literal::Scalar<float>(1)});
  ASSERT_EQ(result.size(), 1u);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(result[0].data<float>()[i], 1 + 2 * (i + 1));
}
TEST(ReduceWindow, LargeWindowsInConstantWork) {
  for (const std::string op : {"add", "maximum"}) {
    Check(op, "f32", "[200]", "[151]", "size=50");
    Check(op, "f32", "[200]", "[70]", "size=50 stride=3 pad=20_37");
    Check(op, "f32", "[40,50,3]", "[31,36,3]", "size=10x15x1");
    Check(op, "f32", "[40,50]", "[43,30]", "size=9x40 pad=5_6x20_-1");
    Check(op, "s32", "[64,64]", "[64,64]", "size=64x64 pad=63_0x0_63");
    Check(op, "f32", "[64]", "[16]", "size=17 rhs_dilate=3");
    Check(op, "f32", "[20,20]", "[20,3]", "size=3x35 stride=1x4 pad=1_1x11_12");
    Check(op, "f32", "[30]", "[36]", "size=36 pad=6_6 lhs_dilate=2");
  }
}
// The largest extents that inference accepts: 2^40.
TEST(ReduceWindow, TheLargestExtents) {
  const std::string most = "1099511627776";
  Check("add", "s32", "[1,512]", "[1,512]",
        "size=1x1 stride=" + most + "x1 pad=17_0x0_0 rhs_dilate=" + most + "x1");
  Check("add", "s32", "[1,512]", "[1,512]",
        "size=1x1 stride=" + most + "x1 pad=17_0x0_0 lhs_dilate=" + most + "x1");
  Check("add", "s32", "[3]", "[1]",
        "size=2 pad=" + most + "_-" + most + " rhs_dilate=1099511627775 stride=2");
  Check("subtract", "s32", "[1,8]", "[1,8]",
        "size=1x1 stride=" + most + "x1 pad=17_0x0_0 rhs_dilate=" + most + "x1");
}
// One dimension grows to 2^40 before the other shrinks from 2^23. Scratch memory cannot have that size.
TEST(ReduceWindow, AnArrayBetweenTheDimensionsThatOverflowsIsNotMade) {
  const auto module = hlo::ParseModule("HloModule m\n\n" + Reducer("f", "add", "f32", "f32") + R"(ENTRY e {
    p0 = f32[1,8388608] parameter(0)
    p1 = f32[] parameter(1)
    ROOT r = f32[1099511627776,1] reduce-window(p0, p1), window={size=1x8388608 pad=0_1099511627775x0_0}, to_apply=f
  })");
  ASSERT_TRUE(module.ok()) << module.status();
  const MaybeStep step = MakeStep(**module, (*module)->entry().root(), 2);
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->scratch_bytes(), 0);  // The step has no scratch memory: it reads each window instead.
}
TEST(ReduceWindow, AnyReducerAndSeveralOperands) {
  Check("subtract", "f32", "[5,6]", "[5,5]", "size=1x2");
  Check("maximum", "f8e4m3fn", "[5,6]", "[2,3]", "size=2x2 stride=2x2");
  // Runs along the last dimension: padding on both sides, strides, gaps in the window, runs longer than one
  // block, channels that the window does not cover, dilation of the operand.
  Check("subtract", "f32", "[7,50]", "[7,50]", "size=3x3 pad=1_1x1_1", 1e-5, 1e-3);
  Check("subtract", "s32", "[3,90]", "[3,46]", "size=1x5 stride=1x2 pad=0_0x3_2");
  Check("subtract", "c64", "[2,1300]", "[2,1302]", "size=2x4 pad=1_0x4_1");
  Check("subtract", "f64", "[4,90]", "[4,86]", "size=1x3 rhs_dilate=1x2");
  Check("subtract", "u8", "[60]", "[55]", "size=4 pad=-1_-1");
  Check("subtract", "f16", "[2,6,5,3,20]", "[2,3,5,3,20]", "size=1x2x1x1x1 stride=1x2x1x1x1", 1e-2, 1e-1);
  Check("subtract", "s16", "[4,40]", "[4,79]", "size=1x1 lhs_dilate=1x2");
  ExpectStep(R"(f {
    a = f32[] parameter(0)
    i = s32[] parameter(1)
    b = f32[] parameter(2)
    j = s32[] parameter(3)
    ge = pred[] compare(a, b), direction=GE
    v = f32[] select(ge, a, b)
    k = s32[] select(ge, i, j)
    ROOT t = (f32[], s32[]) tuple(v, k)
  }
  ENTRY e {
    p0 = f32[20,30] parameter(0)
    p1 = s32[20,30] parameter(1)
    p2 = f32[] parameter(2)
    p3 = s32[] parameter(3)
    ROOT r = (f32[10,31], s32[10,31]) reduce-window(p0, p1, p2, p3),
      window={size=2x2 stride=2x1 pad=0_0x1_1}, to_apply=f
  })");
}

void CheckSelect(const std::string& type, const std::string& in, const std::string& source,
                 const std::string& window, const std::string& direction = "GE",
                 const std::string& scatter = "add") {
  ExpectStep(Reducer("s", direction, type, "pred") + Reducer("f", scatter, type, type) +
                 "ENTRY e {\n p0 = " + type + in + " parameter(0)\n p1 = " + type + source +
                 " parameter(1)\n p2 = " + type + "[] parameter(2)\n ROOT r = " + type + in +
                 " select-and-scatter(p0, p1, p2), window={" + window + "}, select=s, scatter=f\n}\n",
             {.rtol = type == "bf16" ? 2e-2 : 1e-5, .atol = 1e-5});
}
TEST(SelectAndScatter, GradientsOfPooling) {
  for (const std::string type : {"f32", "bf16", "f64", "s32"}) {
    CheckSelect(type, "[3,12,12,8]", "[3,6,6,8]", "size=1x2x2x1 stride=1x2x2x1");
    CheckSelect(type, "[3,8,12,12]", "[3,8,6,6]", "size=1x1x2x2 stride=1x1x2x2");
    CheckSelect(type, "[2,7,7]", "[2,4,4]", "size=1x3x3 stride=1x2x2 pad=0_0x1_1x1_1");
  }
  CheckSelect("f32", "[8,40,40,16]", "[8,20,20,16]", "size=1x2x2x1 stride=1x2x2x1");
}
TEST(SelectAndScatter, AnySelectAndCombiner) {
  for (const std::string direction : {"GE", "GT", "LE", "LT", "NE"}) {
    CheckSelect("f32", "[9,9]", "[4,4]", "size=3x3 stride=2x2", direction);
    CheckSelect("u8", "[9,9,3]", "[4,4,3]", "size=3x3x1 stride=2x2x1", direction);
  }
  CheckSelect("f32", "[9,9]", "[4,4]", "size=3x3 stride=2x2", "GE", "maximum");
  CheckSelect("f32", "[9,9,2]", "[4,4,2]", "size=3x3x1 stride=2x2x1", "GE", "subtract");
}

}  // namespace
}  // namespace hlod::engine
