// Shape rules of reductions, windows, contractions, sorts, random numbers and control flow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/common/hlo/inference/test_util.h"

namespace hlod::hlo {
namespace {

using ::testing::HasSubstr;

std::vector<ProgramShape> Add() { return {Signature({"f32[]", "f32[]"}, "f32[]")}; }

TEST(InferReduce, DropsDimensions) {
  EXPECT_EQ(Infer(kReduce, {"f32[4,<=8,2]", "f32[]"}, DimensionsAttributes{{0, 2}}, {}, Add()), "f32[<=8]");
  EXPECT_EQ(Infer(kReduce, {"f32[4]", "f32[]"}, DimensionsAttributes{}, {}, Add()), "f32[4]");
  EXPECT_THAT(Infer(kReduce, {"f32[4]", "f32[]"}, DimensionsAttributes{{1}}, {}, Add()),
              HasSubstr("lies outside [0, 1)"));
  EXPECT_THAT(Infer(kReduce, {"f32[4]", "f32[]"}, DimensionsAttributes{{0, 0}}, {}, Add()),
              HasSubstr("twice"));
  EXPECT_THAT(Infer(kReduce, {"f32[4]", "s32[]"}, DimensionsAttributes{{0}}, {}, Add()),
              HasSubstr("not a scalar (f32[])"));
  EXPECT_THAT(Infer(kReduce, {"f32[4]"}, DimensionsAttributes{{0}}, {}, Add()), HasSubstr("is not even"));
  EXPECT_THAT(Infer(kReduce, {"s32[4]", "s32[]"}, DimensionsAttributes{{0}}, {}, Add()),
              HasSubstr("Parameter 0 shape (f32[])"));
  EXPECT_THAT(Infer(kReduce, {}, DimensionsAttributes{}, {}, Add()), HasSubstr("is not even"));
}

TEST(InferReduce, SeveralInputsGiveATuple) {
  const std::vector<ProgramShape> argmax = {
      Signature({"f32[]", "s32[]", "f32[]", "s32[]"}, "(f32[], s32[])")};
  EXPECT_EQ(Infer(kReduce, {"f32[4,8]", "s32[4,8]", "f32[]", "s32[]"}, DimensionsAttributes{{1}}, {}, argmax),
            "(f32[4], s32[4])");
  EXPECT_THAT(
      Infer(kReduce, {"f32[4,8]", "s32[4,7]", "f32[]", "s32[]"}, DimensionsAttributes{{1}}, {}, argmax),
      HasSubstr("Operand 1 shape (s32[4,7]) of reduce"));
}

TEST(WindowedSize, FollowsTheWindowRule) {
  // By hand, by the formula floor((dilated base + low + high - dilated window) / stride) + 1.
  EXPECT_EQ(WindowedSize(8, {2, 2, 0, 0, 1, 1}), 4);
  EXPECT_EQ(WindowedSize(7, {3, 2, 1, 1, 1, 1}), 4);
  EXPECT_EQ(WindowedSize(5, {3, 1, 0, 0, 2, 1}), 1);
  EXPECT_EQ(WindowedSize(4, {3, 1, 0, 0, 1, 3}), 8);
  EXPECT_EQ(WindowedSize(2, {3, 1, 0, 0, 1, 1}), 0);
  EXPECT_EQ(WindowedSize(0, {1, 1, 1, 1, 1, 1}), 2);
  EXPECT_EQ(WindowedSize(8, {1, 1, -8, 0, 1, 1}), 0);
}

TEST(WindowedSize, AnyNumbersGiveANumber) {
  for (const int64_t a : {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{1}, INT64_MAX}) {
    for (const int64_t b : {INT64_MIN, int64_t{0}, INT64_MAX}) {
      WindowedSize(a, {b, 1, a, b, a, b});
      WindowedSize(INT64_MAX, {a, a, b, a, b, INT64_MAX});
    }
  }
}

TEST(InferReduceWindow, Windows) {
  const Window pool = {{2, 2, 0, 0, 1, 1}, {2, 2, 0, 0, 1, 1}};
  EXPECT_EQ(Infer(kReduceWindow, {"f32[8,9]", "f32[]"}, WindowAttributes{pool}, {}, Add()), "f32[4,4]");
  EXPECT_THAT(Infer(kReduceWindow, {"f32[8]", "f32[]"}, WindowAttributes{pool}, {}, Add()),
              HasSubstr("window dimensions (2)"));
  EXPECT_THAT(Infer(kReduceWindow, {"f32[8]", "f32[]"}, WindowAttributes{{{0, 1, 0, 0, 1, 1}}}, {}, Add()),
              HasSubstr("window size (0)"));
  EXPECT_THAT(Infer(kReduceWindow, {"f32[8]", "f32[]"}, WindowAttributes{{{1, 0, 0, 0, 1, 1}}}, {}, Add()),
              HasSubstr("window stride (0)"));
  EXPECT_THAT(Infer(kReduceWindow, {"f32[8]", "f32[]"},
                    WindowAttributes{{{1, 1, INT64_MAX, INT64_MAX, 1, 1}}}, {}, Add()),
              HasSubstr("low padding (9223372036854775807)"));
}

// The code that runs a window adds and multiplies its numbers in 64 bits.
TEST(InferReduceWindow, ExtentsAreBounded) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const auto windowed = [](std::string_view shape, WindowDimension dimension) {
    return Infer(kReduceWindow, {shape, "f32[]"}, WindowAttributes{{dimension}}, {}, Add());
  };
  // Size, stride, low and high padding, window and base dilation.
  EXPECT_EQ(windowed("f32[1]", {1, kMost, -kMost, kMost, kMost, kMost}), "f32[1]");
  EXPECT_EQ(windowed("f32[1]", {1, kMost, 5, 0, kMost, 1}), "f32[1]");
  EXPECT_THAT(
      windowed("f32[1]", {1, INT64_MAX, 5, 0, 1, 1}),
      HasSubstr("window stride (9223372036854775807) of reduce-window in dimension 0 exceeds the limit"));
  EXPECT_THAT(windowed("f32[1]", {1, 1, 5, 0, INT64_MAX, 1}), HasSubstr("window dilation"));
  EXPECT_THAT(windowed("f32[1]", {1, 1, 5, 0, 1, kMost + 1}), HasSubstr("window base dilation"));
  EXPECT_THAT(windowed("f32[?]", {1, kMost + 1, 0, 0, 1, 1}), HasSubstr("window stride (1099511627777)"));
  EXPECT_THAT(windowed("f32[1]", {1, 1, -kMost - 1, 0, 1, 1}), HasSubstr("low padding (-1099511627777)"));
  EXPECT_THAT(windowed("f32[1]", {1, 1, 0, INT64_MIN, 1, 1}), HasSubstr("high padding"));
  EXPECT_THAT(windowed("f32[1]", {3, 1, 0, 0, kMost, 1}),
              HasSubstr("dilated window size (2199023255553) of reduce-window"));
  EXPECT_THAT(windowed("f32[1]", {INT64_MAX, 1, 0, 0, kMost, 1}),
              HasSubstr("dilated window size (9223372036854775807)"));
  EXPECT_THAT(windowed("f32[3]", {1, 1, 0, 0, 1, kMost}), HasSubstr("dilated size (2199023255553)"));
  EXPECT_THAT(windowed("f32[1]", {1, 1, kMost, kMost, 1, 1}), HasSubstr("padded size (2199023255553)"));
}

TEST(InferSelectAndScatter, SourceIsTheWindowedOperand) {
  const std::vector<ProgramShape> called = {Signature({"f32[]", "f32[]"}, "pred[]"),
                                            Signature({"f32[]", "f32[]"}, "f32[]")};
  const WindowAttributes pool{{{2, 2, 0, 0, 1, 1}}};
  EXPECT_EQ(Infer(kSelectAndScatter, {"f32[8]", "f32[4]", "f32[]"}, pool, {}, called), "f32[8]");
  EXPECT_THAT(Infer(kSelectAndScatter, {"f32[8]", "f32[5]", "f32[]"}, pool, {}, called),
              HasSubstr("windowed operand 0 (f32[4])"));
}

TEST(InferSort, KeysAndValues) {
  const std::vector<ProgramShape> less = {Signature({"f32[]", "f32[]", "s32[]", "s32[]"}, "pred[]")};
  EXPECT_EQ(Infer(kSort, {"f32[8]", "s32[8]"}, SortAttributes{0, true}, {}, less), "(f32[8], s32[8])");
  EXPECT_EQ(Infer(kSort, {"f32[8]"}, SortAttributes{0}, {}, {Signature({"f32[]", "f32[]"}, "pred[]")}),
            "f32[8]");
  EXPECT_THAT(Infer(kSort, {"f32[8]"}, SortAttributes{0}, {}, Add()), HasSubstr("result shape (f32[])"));
  EXPECT_THAT(Infer(kSort, {"f32[]"}, SortAttributes{0}, {}, Add()), HasSubstr("lies outside [0, 0)"));
  EXPECT_THAT(Infer(kSort, {}, SortAttributes{0}, {}, Add()), HasSubstr("no operands"));
}

TEST(InferTopK, GivesValuesAndIndices) {
  EXPECT_EQ(Infer(kTopK, {"bf16[4,9]"}, TopKAttributes{3}), "(bf16[4,3], s32[4,3])");
  EXPECT_THAT(Infer(kTopK, {"f32[4,9]"}, TopKAttributes{10}), HasSubstr("(10) of topk lies outside [0, 9]"));
  EXPECT_THAT(Infer(kTopK, {"f32[]"}, TopKAttributes{0}), HasSubstr("no last dimension"));
}

TEST(InferMap, TypeComesFromTheComputation) {
  EXPECT_EQ(Infer(kMap, {"f32[4]", "f32[4]"}, DimensionsAttributes{{0}}, {},
                  {Signature({"f32[]", "f32[]"}, "s8[]")}),
            "s8[4]");
  EXPECT_THAT(Infer(kMap, {"f32[4]", "f32[4]"}, DimensionsAttributes{}, {}, Add()), HasSubstr("are not all"));
}

TEST(InferBatchNorm, StatisticsAreOneAFeature) {
  const BatchNormAttributes second{0.001f, 1};
  EXPECT_EQ(Infer(kBatchNormTraining, {"f32[2,3]", "f32[3]", "f32[3]"}, second),
            "(f32[2,3], f32[3], f32[3])");
  EXPECT_EQ(Infer(kBatchNormInference, {"f32[2,3]", "f32[3]", "f32[3]", "f32[3]", "f32[3]"}, second),
            "f32[2,3]");
  EXPECT_EQ(Infer(kBatchNormGrad, {"f32[2,3]", "f32[3]", "f32[3]", "f32[3]", "f32[2,3]"}, second),
            "(f32[2,3], f32[3], f32[3])");
  EXPECT_THAT(Infer(kBatchNormTraining, {"f32[2,3]", "f32[2]", "f32[3]"}, second),
              HasSubstr("one value a feature"));
  EXPECT_THAT(Infer(kBatchNormTraining, {"f32[2,3]", "f32[3]", "f32[3]"}, BatchNormAttributes{0, 2}),
              HasSubstr("feature_index (2)"));
}

DotAttributes Contract(Dims lhs, Dims rhs, Dims lhs_batch = {}, Dims rhs_batch = {}) {
  DotAttributes dot;
  dot.lhs_contracting = lhs;
  dot.rhs_contracting = rhs;
  dot.lhs_batch = lhs_batch;
  dot.rhs_batch = rhs_batch;
  return dot;
}

TEST(InferDot, BatchThenLeftThenRight) {
  EXPECT_EQ(Infer(kDot, {"f32[4,8]", "f32[8,16]"}, Contract({1}, {0})), "f32[4,16]");
  EXPECT_EQ(Infer(kDot, {"f32[4,3,8]", "f32[8,16,3]"}, Contract({2}, {0}, {1}, {2})), "f32[3,4,16]");
  EXPECT_EQ(Infer(kDot, {"f32[8]", "f32[8]"}, Contract({0}, {0})), "f32[]");
  EXPECT_EQ(Infer(kDot, {"f32[2]", "f32[3]"}, Contract({}, {})), "f32[2,3]");
  EXPECT_EQ(Infer(kDot, {"f32[<=4,8]", "f32[8,16]"}, Contract({1}, {0})), "f32[<=4,16]");
}

TEST(InferDot, MayGiveAnyType) {
  EXPECT_EQ(Infer(kDot, {"bf16[4,8]", "bf16[8,2]"}, Contract({1}, {0}), {"f32[4,2]"}), "f32[4,2]");
  EXPECT_EQ(Infer(kDot, {"s8[4,8]", "s8[8,2]"}, Contract({1}, {0}), {"s32[4,2]"}), "s32[4,2]");
  EXPECT_EQ(Infer(kDot, {"f8e4m3fn[4,8]", "f8e5m2[8,2]"}, Contract({1}, {0}), {"f32[4,2]"}), "f32[4,2]");
  EXPECT_EQ(Infer(kDot, {"f32[4,8]", "f32[8,2]"}, Contract({1}, {0}), {"s32[4,2]"}), "s32[4,2]");
  EXPECT_EQ(Infer(kDot, {"s32[4,8]", "f32[8,2]"}, Contract({1}, {0}), {"f32[4,2]"}), "f32[4,2]");
  EXPECT_EQ(Infer(kDot, {"s32[4,8]", "bf16[8,2]"}, Contract({1}, {0})), "bf16[4,2]");
  EXPECT_THAT(Infer(kDot, {"f32[4,8]", "f32[8,2]"}, Contract({1}, {0}), {"token[]"}), HasSubstr("token"));
}

TEST(InferDot, RefusesWhatDoesNotPair) {
  EXPECT_THAT(Infer(kDot, {"f32[4,8]", "f32[9,2]"}, Contract({1}, {0})),
              HasSubstr("contracting dimensions 1 of (f32[4,8])"));
  EXPECT_THAT(Infer(kDot, {"f32[4,8]", "f32[8,2]"}, Contract({1, 0}, {0})), HasSubstr("not paired"));
  EXPECT_THAT(Infer(kDot, {"f32[4,8]", "f32[8,2]"}, Contract({2}, {0})), HasSubstr("lies outside [0, 2)"));
  EXPECT_THAT(Infer(kDot, {"f32[4,8]", "f32[8,4]"}, Contract({1}, {0}, {1}, {0})), HasSubstr("twice"));
  EXPECT_THAT(Infer(kDot, {"pred[4611686018427387904]", "pred[4611686018427387904]"}, Contract({}, {})),
              HasSubstr("overflows"));
}

ConvolutionAttributes Nhwc(int64_t size, int64_t pad) {
  ConvolutionAttributes c;
  c.window = {{size, 1, pad, pad, 1, 1}, {size, 1, pad, pad, 1, 1}};
  c.input_batch = 0, c.input_spatial = {1, 2}, c.input_feature = 3;
  c.kernel_spatial = {0, 1}, c.kernel_input_feature = 2, c.kernel_output_feature = 3;
  c.output_batch = 0, c.output_spatial = {1, 2}, c.output_feature = 3;
  return c;
}

TEST(InferConvolution, FollowsTheLabels) {
  EXPECT_EQ(Infer(kConvolution, {"f32[1,8,8,3]", "f32[3,3,3,16]"}, Nhwc(3, 1)), "f32[1,8,8,16]");
  ConvolutionAttributes grouped = Nhwc(3, 0);
  grouped.feature_group_count = 4;
  EXPECT_EQ(Infer(kConvolution, {"f32[2,8,8,8]", "f32[3,3,2,12]"}, grouped), "f32[2,6,6,12]");
  ConvolutionAttributes batched = Nhwc(3, 0);
  batched.batch_group_count = 2;
  EXPECT_EQ(Infer(kConvolution, {"f32[4,8,8,8]", "f32[3,3,8,12]"}, batched), "f32[2,6,6,12]");
}

TEST(InferConvolution, RefusesWhatDoesNotFit) {
  const auto broken = [](auto change) {
    ConvolutionAttributes c = Nhwc(3, 1);
    change(c);
    return Infer(kConvolution, {"f32[1,8,8,3]", "f32[3,3,3,16]"}, c);
  };
  EXPECT_THAT(broken([](auto& c) { c.feature_group_count = 2; }), HasSubstr("input features (3)"));
  EXPECT_THAT(broken([](auto& c) { c.feature_group_count = 0; }), HasSubstr("feature_group_count (0)"));
  EXPECT_THAT(broken([](auto& c) { c.feature_group_count = INT64_MIN; }), HasSubstr("not valid together"));
  EXPECT_THAT(broken([](auto& c) { c.batch_group_count = 3; }), HasSubstr("not divided"));
  EXPECT_THAT(broken([](auto& c) { c.input_feature = 0; }), HasSubstr("twice"));
  EXPECT_THAT(broken([](auto& c) { c.output_spatial = {1, 7}; }), HasSubstr("lies outside"));
  EXPECT_THAT(broken([](auto& c) { c.output_spatial = {1}; }), HasSubstr("window of convolution"));
  EXPECT_THAT(broken([](auto& c) { c.window[0].size = 2; }), HasSubstr("differs from its kernel's (3)"));
  EXPECT_THAT(broken([](auto& c) { c.window[0].padding_low = INT64_MAX; }), HasSubstr("low padding"));
  EXPECT_THAT(broken([](auto& c) { c.window.clear(); }), HasSubstr("(0) dimensions"));
}

TEST(InferFft, HalvesTheLastDimension) {
  EXPECT_EQ(Infer(kFft, {"f32[3,8]"}, FftAttributes{FftType::kRfft, {8}}), "c64[3,5]");
  EXPECT_EQ(Infer(kFft, {"c64[3,5]"}, FftAttributes{FftType::kIrfft, {8}}), "f32[3,8]");
  EXPECT_EQ(Infer(kFft, {"c128[4,6]"}, FftAttributes{FftType::kFft, {4, 6}}), "c128[4,6]");
  EXPECT_THAT(Infer(kFft, {"f32[8]"}, FftAttributes{FftType::kFft, {8}}), HasSubstr("does not take"));
  EXPECT_THAT(Infer(kFft, {"c64[8]"}, FftAttributes{FftType::kFft, {7}}), HasSubstr("length (7)"));
  EXPECT_THAT(Infer(kFft, {"c64[8]"}, FftAttributes{FftType::kFft, {}}), HasSubstr("lengths (0)"));
  EXPECT_THAT(Infer(kFft, {"c64[8]"}, FftAttributes{FftType::kFft, {INT64_MIN}}), HasSubstr("does not fit"));
}

TEST(InferLinearAlgebra, WantsSquares) {
  EXPECT_EQ(Infer(kCholesky, {"f32[2,4,4]"}, CholeskyAttributes{true}), "f32[2,4,4]");
  EXPECT_THAT(Infer(kCholesky, {"f32[4,3]"}, CholeskyAttributes{}), HasSubstr("square"));
  EXPECT_EQ(
      Infer(kTriangularSolve, {"f32[4,4]", "f32[4,2]"}, TriangularSolveAttributes{true, true, false, 1}),
      "f32[4,2]");
  EXPECT_THAT(
      Infer(kTriangularSolve, {"f32[4,4]", "f32[4,2]"}, TriangularSolveAttributes{false, true, false, 1}),
      HasSubstr("does not fit"));
  EXPECT_THAT(Infer(kTriangularSolve, {"f32[4,4]", "f32[4,2]"}, TriangularSolveAttributes{}),
              HasSubstr("transpose_a (0)"));
}

TEST(InferRandom, StatesItsShape) {
  EXPECT_EQ(Infer(kRngBitGenerator, {"u64[2]"}, RngBitGeneratorAttributes{}, {"(u64[2], u32[8])"}),
            "(u64[2], u32[8])");
  EXPECT_THAT(Infer(kRngBitGenerator, {"u64[2]"}, RngBitGeneratorAttributes{}, {"(u64[2], f32[8])"}),
              HasSubstr("not a pair"));
  EXPECT_THAT(Infer(kRngBitGenerator, {"f32[2]"}, RngBitGeneratorAttributes{}, {"(f32[2], u32[8])"}),
              HasSubstr("not a state"));
  EXPECT_EQ(Infer(kRng, {"f32[]", "f32[]"}, RngAttributes{RandomDistribution::kUniform}, {"f32[8]"}),
            "f32[8]");
  EXPECT_THAT(Infer(kRng, {"s32[]", "s32[]"}, RngAttributes{RandomDistribution::kNormal}, {"s32[8]"}),
              HasSubstr("does not suit"));
}

TEST(InferControl, SignaturesMustAgree) {
  const std::vector<ProgramShape> loop = {Signature({"(s32[], f32[4])"}, "(s32[], f32[4])"),
                                          Signature({"(s32[], f32[4])"}, "pred[]")};
  EXPECT_EQ(Infer(kWhile, {"(s32[], f32[4]{0})"}, NoAttributes{}, {}, loop), "(s32[], f32[4])");
  EXPECT_THAT(Infer(kWhile, {"(s32[], f32[5])"}, NoAttributes{}, {}, loop),
              HasSubstr("called by while differs"));
  EXPECT_THAT(Infer(kWhile, {"(s32[], f32[4])"}, NoAttributes{}, {}, {loop[0], loop[0]}),
              HasSubstr("is not (pred[])"));
  EXPECT_THAT(Infer(kWhile, {"s32[]"}, NoAttributes{}, {},
                    {Signature({"s32[]"}, "s64[]"), Signature({"s32[]"}, "pred[]")}),
              HasSubstr("body of while"));

  const ProgramShape f = Signature({"f32[2]"}, "f32[3]"), g = Signature({"s32[]"}, "f32[3]"),
                     h = Signature({"s32[]"}, "f32[4]");
  EXPECT_EQ(Infer(kConditional, {"pred[]", "f32[2]", "s32[]"}, NoAttributes{}, {}, {f, g}), "f32[3]");
  EXPECT_EQ(Infer(kConditional, {"s32[]", "f32[2]"}, NoAttributes{}, {}, {f}), "f32[3]");
  EXPECT_THAT(Infer(kConditional, {"pred[]", "f32[2]"}, NoAttributes{}, {}, {f}),
              HasSubstr("does not select among (1)"));
  EXPECT_THAT(Infer(kConditional, {"pred[]", "f32[2]", "s32[]"}, NoAttributes{}, {}, {f, h}),
              HasSubstr("branch 1"));
  EXPECT_THAT(Infer(kConditional, {"pred[]"}, NoAttributes{}, {}, {}), HasSubstr("(0) branches"));

  EXPECT_EQ(Infer(kCall, {"f32[2]"}, CallAttributes{}, {}, {f}), "f32[3]");
  EXPECT_THAT(Infer(kCall, {"f32[3]"}, CallAttributes{}, {}, {f}),
              HasSubstr("differs from the operand's (f32[3])"));
  EXPECT_THAT(Infer(kCall, {}, CallAttributes{}, {}, {f}), HasSubstr("takes (1) parameters; (0) are given"));
  EXPECT_EQ(Infer(kCustomCall, {"f32[3]"}, CustomCallAttributes{"x"}, {"(f32[1], token[])"}),
            "(f32[1], token[])");
}

}  // namespace
}  // namespace hlod::hlo
