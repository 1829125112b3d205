// convolution: layouts, strides, dilations, groups and the gradients that JAX makes of them, on oneDNN and on
// the engine's own loops.
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

std::string Text(const std::string& lhs, const std::string& rhs, const std::string& out,
                 const std::string& window, const std::string& labels, const std::string& more) {
  return "ENTRY e {\n p0 = " + lhs + " parameter(0)\n p1 = " + rhs + " parameter(1)\n ROOT r = " + out +
         " convolution(p0, p1), window={" + window + "}, dim_labels=" + labels + more + "\n}\n";
}
// Checks a convolution in f32 (large ones run on oneDNN), in f64 (the engine's loops), in bf16, and in
// integers of 8 and 16 bits.
void Check(const std::string& lhs, const std::string& rhs, const std::string& out, const std::string& window,
           const std::string& labels, const std::string& more = "", const std::string& kernel = "") {
  ExpectStep(Text("f32" + lhs, "f32" + rhs, "f32" + out, window, labels, more),
             {.rtol = 1e-4, .atol = 5e-2, .describe = kernel});
  ExpectStep(Text("f64" + lhs, "f64" + rhs, "f64" + out, window, labels, more),
             {.rtol = 1e-11, .atol = 1e-8});
  ExpectStep(Text("bf16" + lhs, "bf16" + rhs, "f32" + out, window, labels, more),
             {.rtol = 1e-3, .atol = 1e-1});
  for (const auto& [a, b] : {std::pair("s8", "s8"), {"u8", "s8"}, {"s8", "u8"}, {"s16", "s16"}})
    ExpectStep(Text(a + lhs, b + rhs, "s32" + out, window, labels, more));
}

TEST(Convolution, ByHand) {
  const auto result = RunStepText(
      Text("f32[1,5,1]", "f32[3,1,1]", "f32[1,3,1]", "size=3", "b0f_0io->b0f", ""),
      {Literal::Array<float>({1, 5, 1}, {1, 2, 3, 4, 5}), Literal::Array<float>({3, 1, 1}, {1, 0, -1})});
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0], (Literal::Array<float>({1, 3, 1}, {-2, -2, -2})));
}
TEST(Convolution, IntegersBecomeFloatsBeforeTheyAreMultiplied) {
  const auto result = RunStepText(
      Text("s32[1,5,1]", "s32[3,1,1]", "f32[1,3,1]", "size=3", "b0f_0io->b0f", ""),
      {Literal::Array<int32_t>({1, 5, 1}, {1, 2, 3, 4, 5}), Literal::Array<int32_t>({3, 1, 1}, {1, 0, -1})});
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0], (Literal::Array<float>({1, 3, 1}, {-2, -2, -2})));
}
TEST(Convolution, NarrowIntegersWrap) {
  // 4000 products of 10 * 10 are 400,000 = 1562 * 256 + 128, which is 128 modulo 256.
  Literal lhs(hlo::Shape::Array(hlo::kS8, {1, 1, 4000})), rhs(hlo::Shape::Array(hlo::kS8, {1, 4000, 8}));
  for (int8_t& element : lhs.data<int8_t>()) element = 10;
  for (int8_t& element : rhs.data<int8_t>()) element = 10;
  const auto result = RunStepText(
      Text("s8[1,1,4000]", "s8[1,4000,8]", "s8[1,1,8]", "size=1", "b0f_0io->b0f", ""), {lhs, rhs});
  ASSERT_EQ(result.size(), 1u);
  for (const int8_t element : result[0].data<int8_t>()) EXPECT_EQ(element, -128);
}
// Sums of `terms` products of one number, in 64 x 4 results.
template <typename T>
void ExpectSums(const std::string& type, T factor, int64_t terms, const std::string& out, int64_t expected) {
  Literal lhs(hlo::Shape::Array(hlo::kPrimitiveTypeOf<T>, {1, 4, terms})),
      rhs(hlo::Shape::Array(hlo::kPrimitiveTypeOf<T>, {1, terms, 64}));
  for (T& element : lhs.data<T>()) element = factor;
  for (T& element : rhs.data<T>()) element = factor;
  const std::string n = std::to_string(terms);
  const auto result = RunStepText(Text(type + "[1,4," + n + "]", type + "[1," + n + ",64]", out + "[1,4,64]",
                                       "size=1", "b0f_0io->b0f", ""),
                                  {lhs, rhs});
  ASSERT_EQ(result.size(), 1u);
  if (out == "s32") {
    for (const int32_t element : result[0].data<int32_t>()) ASSERT_EQ(element, expected) << type << terms;
  } else {
    for (const int16_t element : result[0].data<int16_t>()) ASSERT_EQ(element, expected) << type << terms;
  }
}
// Sums up to 2^24 are exact in f32; the next ones are computed in integers.
TEST(Convolution, SumsOfNarrowIntegersAreExact) {
  ExpectSums<int8_t>("s8", -128, 1024, "s32", 16'777'216);
  ExpectSums<int8_t>("s8", -128, 1025, "s32", 16'793'600);
  ExpectSums<uint8_t>("u8", 255, 258, "s32", 16'776'450);
  ExpectSums<uint8_t>("u8", 255, 259, "s32", 16'841'475);
  ExpectSums<int8_t>("s8", 127, 333, "s32", 5'370'957);
  ExpectSums<int8_t>("s8", 100, 40, "s16", 400'000 - 6 * 65'536);
}
// Sums of 16-bit integers, which no float represents, are computed in pairs; so are 8-bit ones whose sums
// exceed 2^24 or are narrow.
TEST(Convolution, IntegersInPairs) {
  const StepTestOptions options{.describe = "[pairs]"};
  const std::string images = "[2,10,12,", window = "size=3x3 pad=1_1x1_1", labels = "b01f_01io->b01f";
  for (const std::string outputs : {"15", "16", "33"}) {
    for (const std::string features : {"8", "9"}) {
      const std::string weights = "[3,3," + features + "," + outputs + "]";
      ExpectStep(Text("s16" + images + features + "]", "s16" + weights, "s32" + images + outputs + "]",
                      window, labels, ""),
                 options);
      ExpectStep(Text("s8" + images + features + "]", "s8" + weights, "s8" + images + outputs + "]", window,
                      labels, ""),
                 options);
    }
  }
  ExpectStep(Text("u8[2,200,6]", "s8[5,200,20]", "s32[2,4,20]", "size=5 pad=1_1", "bf0_0io->b0f", ""),
             options);
}
TEST(Convolution, LayoutsOfTheField) {
  Check("[4,10,12,8]", "[3,3,8,16]", "[4,10,12,16]", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f", "", "[");
  Check("[4,8,10,12]", "[16,8,3,3]", "[4,16,10,12]", "size=3x3 pad=1_1x1_1", "bf01_oi01->bf01", "", "[");
  Check("[6,4,9,9]", "[3,3,4,8]", "[6,8,5,5]", "size=3x3 stride=2x2 pad=1_1x1_1", "bf01_01io->bf01", "", "[");
  Check("[4,40,8]", "[5,8,12]", "[4,36,12]", "size=5", "b0f_0io->b0f", "", "[");
  Check("[2,6,7,8,3]", "[2,3,2,3,5]", "[2,5,5,7,5]", "size=2x3x2", "b012f_012io->b012f", "", "[");
  Check("[4,3]", "[3,5]", "[4,5]", "", "bf_io->bf");
}
TEST(Convolution, StridesDilationsAndPadding) {
  Check("[2,20,21,8]", "[3,3,8,16]", "[2,8,17,16]", "size=3x3 stride=2x1 rhs_dilate=2x2", "b01f_01io->b01f",
        "", "[");
  Check("[2,20,21,8]", "[3,4,8,16]", "[2,21,19,16]", "size=3x4 pad=3_0x0_1", "b01f_01io->b01f", "", "[");
  Check("[2,20,21,8]", "[3,3,8,16]", "[2,15,18,16]", "size=3x3 pad=-1_-2x1_-2", "b01f_01io->b01f", "", "[");
  Check("[2,20,21,8]", "[3,3,8,16]", "[2,18,19,16]", "size=3x3 rhs_reversal=1x1", "b01f_01io->b01f", "", "[");
  Check("[2,20,21,8]", "[3,2,8,16]", "[2,18,20,16]", "size=3x2 rhs_reversal=0x1", "b01f_01io->b01f", "", "[");
}
TEST(Convolution, Groups) {
  Check("[2,10,12,8]", "[3,3,2,16]", "[2,10,12,16]", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f",
        ", feature_group_count=4", "[");
  Check("[2,10,12,32]", "[3,3,1,32]", "[2,10,12,32]", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f",
        ", feature_group_count=32", "[");
  Check("[2,12,10,12]", "[24,3,3,3]", "[2,24,8,10]", "size=3x3", "bf01_oi01->bf01", ", feature_group_count=4",
        "[");
}
TEST(Convolution, TransposedOnes) {
  Check("[2,9,10,8]", "[3,3,8,16]", "[2,19,21,16]", "size=3x3 pad=2_2x2_2 lhs_dilate=2x2", "b01f_01io->b01f",
        "", "[");
  Check("[2,9,10,8]", "[4,4,8,16]", "[2,18,20,16]", "size=4x4 pad=2_2x2_2 lhs_dilate=2x2", "b01f_01io->b01f",
        "", "[");
  Check("[6,8,5,5]", "[3,3,4,8]", "[6,4,9,9]", "size=3x3 pad=1_1x1_1 lhs_dilate=2x2", "bf01_01oi->bf01", "",
        "[");
  Check("[2,9,10,8]", "[3,3,8,16]", "[2,19,21,16]", "size=3x3 pad=2_2x2_2 lhs_dilate=2x2 rhs_reversal=1x1",
        "b01f_01io->b01f", "", "[");
  Check("[2,9,10,8]", "[3,3,4,16]", "[2,19,21,16]", "size=3x3 pad=2_2x2_2 lhs_dilate=2x2", "b01f_01io->b01f",
        ", feature_group_count=2", "[");
  Check("[2,9,10,8]", "[3,3,8,16]", "[2,15,26,16]", "size=3x3 pad=0_1x4_7 lhs_dilate=2x2 rhs_dilate=2x1",
        "b01f_01io->b01f");
  Check("[2,9,10,8]", "[3,3,8,16]", "[2,10,7,16]", "size=3x3 stride=2x3 pad=2_2x2_2 lhs_dilate=2x2",
        "b01f_01io->b01f");
}
TEST(Convolution, GradientsByKernel) {
  // JAX's gradient by the kernel: batch and feature exchange places, and the window is the gradient of the
  // result.
  Check("[8,12,12,6]", "[8,12,12,8]", "[3,3,6,8]", "size=12x12 pad=1_1x1_1", "f01b_i01o->01bf", "", "[");
  Check("[6,4,9,9]", "[6,8,5,5]", "[3,3,4,8]", "size=5x5 pad=1_1x1_1 rhs_dilate=2x2", "fb01_io01->01bf", "",
        "[");
  Check("[6,4,10,10]", "[6,8,5,5]", "[3,3,4,8]", "size=5x5 pad=1_0x1_0 rhs_dilate=2x2", "fb01_io01->01bf", "",
        "[");
}
TEST(Convolution, BatchGroups) {
  Check("[8,12,12,16]", "[8,12,12,16]", "[3,3,1,16]", "size=12x12 pad=1_1x1_1", "f01b_i01o->01bf",
        ", batch_group_count=16", "[");
  Check("[8,5,5,8]", "[3,3,8,12]", "[2,3,3,12]", "size=3x3", "b01f_01io->b01f", ", batch_group_count=4");
}
// In f64, lines of the result are products of matrices: of more features than a strip holds, of columns that
// do not fill a vector, with positions of the kernel that are beside lhs at some or all places of a line, and
// along the one axis that is not dilated.
TEST(Convolution, Lines) {
  Check("[1,5,17,300]", "[3,3,300,21]", "[1,5,17,21]", "size=3x3 pad=1_1x1_1", "b01f_01io->b01f");
  Check("[2,7,6,19]", "[5,7,3,4]", "[2,5,6,19]", "size=3x4 pad=1_1x2_1", "bf01_oi01->bf01");
  Check("[2,7,6,19]", "[5,7,3,9]", "[2,5,6,35]", "size=3x9 pad=1_1x12_12", "bf01_oi01->bf01");
  Check("[2,7,6,19]", "[5,7,3,3]", "[2,5,6,12]", "size=3x3 pad=1_1x-2_-3 rhs_reversal=1x1",
        "bf01_oi01->bf01");
  Check("[2,5,6,7]", "[2,3,7,16]", "[2,10,4,16]", "size=2x3 pad=1_1x0_0 lhs_dilate=2x1", "b01f_01io->b01f");
  Check("[2,6,5,11]", "[3,6,2,3]", "[2,3,10,9]", "size=2x3 pad=1_1x0_0 lhs_dilate=2x1", "bf01_oi01->bf01");
  Check("[1,1,1500]", "[1,1,9]", "[1,1,1500]", "size=9 pad=4_4", "bf0_oi0->bf0");
  Check("[1,1400,2]", "[9,2,16]", "[1,1392,16]", "size=9", "b0f_0io->b0f");
  Check("[2,9,8]", "[40,8,24]", "[2,3,24]", "size=40 stride=5 pad=20_21", "b0f_0io->b0f");
}
// Filters of one feature are lines in f32, too: a signal's, which the kernel overhangs by all but one
// element, and an image's.
TEST(Convolution, FiltersOfOneFeature) {
  Check("[1,1,1500]", "[1,1,33]", "[1,1,1532]", "size=33 pad=32_32 rhs_reversal=1", "bf0_oi0->bf0");
  Check("[1,1,2000]", "[1,1,40]", "[1,1,1883]", "size=40 rhs_dilate=3", "bf0_oi0->bf0");
  Check("[3,1,40,50]", "[1,1,5,7]", "[3,1,20,50]", "size=5x7 stride=2x1 pad=2_2x3_3", "bf01_oi01->bf01");
}
TEST(Convolution, OtherTypes) {
  for (const std::string type : {"s32", "c64", "f16"}) {
    ExpectStep(Text(type + "[2,6,6,3]", type + "[3,3,3,4]", type + "[2,6,6,4]", "size=3x3 pad=1_1x1_1",
                    "b01f_01io->b01f", ""),
               {.rtol = 2e-2, .atol = 2e-1});
  }
  for (const std::string type : {"s8", "u8", "s4"}) {
    ExpectStep(Text(type + "[2,6,6,3]", type + "[3,3,3,4]", "s32[2,6,6,4]", "size=3x3 pad=1_1x1_1",
                    "b01f_01io->b01f", ""));
    ExpectStep(Text(type + "[4,10,12,8]", type + "[3,3,8,16]", "s32[4,10,12,16]", "size=3x3 pad=1_1x1_1",
                    "b01f_01io->b01f", ""));
  }
  ExpectStep(Text("f16[4,10,12,8]", "f16[3,3,8,16]", "f16[4,10,12,16]", "size=3x3 pad=1_1x1_1",
                  "b01f_01io->b01f", ""),
             {.rtol = 2e-2, .atol = 1});
  ExpectStep(Text("bf16[4,10,12,8]", "bf16[3,3,8,16]", "bf16[4,10,12,16]", "size=3x3 pad=1_1x1_1",
                  "b01f_01io->b01f", ""),
             {.rtol = 2e-2, .atol = 2});
}
// oneDNN keeps these numbers in 32 bits and does not check them; its kernels for them crash or are never
// generated.
TEST(Convolution, WindowNumbersTooLargeForTheLibrary) {
  const auto check = [](const std::string& in, const std::string& out, const std::string& window) {
    ExpectStep(
        Text("f32[4,32," + in + "]", "f32[32,32,40]", "f32[4,32," + out + "]", window, "bf0_oi0->bf0", ""),
        {.rtol = 1e-4, .atol = 5e-2});
  };
  check("1", "2", "size=40 stride=2147483647 pad=0_4294967294");
  check("2", "1", "size=40 stride=2 pad=3_83751862230 rhs_dilate=2147483647");
  check("2", "1", "size=40 stride=2 pad=3_3900000 rhs_dilate=100000");
  check("2", "1", "size=40 stride=2 pad=3_39000000 rhs_dilate=1000000");
  check("2", "40", "size=40 pad=16777216_-16777177 lhs_dilate=16777216");
}
TEST(Convolution, MoreWorkThanAListOfPartsHoldsIsNotSplit) {
  // 8,388,608 images of 2^20 output features: 2^41 parts.
  const auto module =
      hlo::ParseModule("HloModule m\n\n" + Text("f32[8388608,1,1048576]", "f32[1,1048576,1048576]",
                                                "f32[8388608,1,1048576]", "size=1", "b0f_0io->b0f", ""));
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_NE(MakeStep(**module, (*module)->entry().root(), 2), nullptr);
}
TEST(Convolution, NothingToSumIsZero) {
  Check("[2,6,6,0]", "[3,3,0,4]", "[2,4,4,4]", "size=3x3", "b01f_01io->b01f");
  Check("[2,6,6,3]", "[7,3,3,4]", "[2,0,4,4]", "size=7x3", "b01f_01io->b01f");
}

}  // namespace
}  // namespace hlod::engine
