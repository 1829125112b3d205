// Shape rules of data movement, gather and scatter; expected shapes by hand or from JAX's lowerings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/common/hlo/inference/test_util.h"
#include "tests/unit/common/hlo/row_gather.h"

namespace hlod::hlo {
namespace {

using ::testing::HasSubstr;

TEST(InferBroadcast, PlacesOperandDimensions) {
  EXPECT_EQ(Infer(kBroadcast, {"f32[8]"}, DimensionsAttributes{{1}}, {"f32[4,8]"}), "f32[4,8]");
  EXPECT_EQ(Infer(kBroadcast, {"f32[]"}, DimensionsAttributes{}, {"f32[4,8]"}), "f32[4,8]");
  EXPECT_EQ(Infer(kBroadcast, {"f32[<=8]"}, DimensionsAttributes{{1}}, {"f32[4,<=8]"}), "f32[4,<=8]");
  EXPECT_THAT(Infer(kBroadcast, {"f32[1]"}, DimensionsAttributes{{1}}, {"f32[4,8]"}),
              HasSubstr("differs in size"));
  EXPECT_THAT(Infer(kBroadcast, {"f32[8]"}, DimensionsAttributes{{2}}, {"f32[4,8]"}),
              HasSubstr("lies outside [0, 2)"));
  EXPECT_THAT(Infer(kBroadcast, {"f32[8,8]"}, DimensionsAttributes{{1, 1}}, {"f32[4,8]"}),
              HasSubstr("twice"));
  EXPECT_THAT(Infer(kBroadcast, {"f32[8]"}, DimensionsAttributes{}, {"f32[4,8]"}),
              HasSubstr("rank of operand 0"));
  EXPECT_THAT(Infer(kBroadcast, {"f32[8]"}, DimensionsAttributes{{0}}), HasSubstr("is not stated"));
}

TEST(InferReshape, KeepsTheElementCount) {
  EXPECT_EQ(Infer(kReshape, {"f32[4,8]"}, DimensionsAttributes{}, {"f32[32]"}), "f32[32]");
  EXPECT_EQ(Infer(kReshape, {"f32[0,8]"}, DimensionsAttributes{}, {"f32[4,0]"}), "f32[4,0]");
  EXPECT_EQ(Infer(kReshape, {"f32[<=4,8]"}, DimensionsAttributes{{0}}, {"f32[<=32]"}), "f32[<=32]");
  EXPECT_THAT(Infer(kReshape, {"f32[4,8]"}, DimensionsAttributes{}, {"f32[31]"}), HasSubstr("element count"));
  EXPECT_THAT(Infer(kReshape, {"f32[4]"}, DimensionsAttributes{{9}}, {"f32[4]"}),
              HasSubstr("inferred dimension"));
}

TEST(InferBitcastConvert, AppendsOrTakesAMinorDimension) {
  EXPECT_EQ(Infer(kBitcastConvert, {"f32[8]"}, NoAttributes{}, {"u32[8]"}), "u32[8]");
  EXPECT_EQ(Infer(kBitcastConvert, {"u32[8]"}, NoAttributes{}, {"u8[8,4]"}), "u8[8,4]");
  EXPECT_EQ(Infer(kBitcastConvert, {"u8[8,4]"}, NoAttributes{}, {"f32[8]"}), "f32[8]");
  EXPECT_EQ(Infer(kBitcastConvert, {"s8[3]"}, NoAttributes{}, {"s4[3,2]"}), "s4[3,2]");
  EXPECT_THAT(Infer(kBitcastConvert, {"u8[8,3]"}, NoAttributes{}, {"f32[8]"}), HasSubstr("cannot be read"));
  EXPECT_THAT(Infer(kBitcastConvert, {"u8[]"}, NoAttributes{}, {"f32[]"}), HasSubstr("cannot be read"));
  EXPECT_THAT(Infer(kBitcastConvert, {"c64[2]"}, NoAttributes{}, {"f64[2]"}), HasSubstr("cannot be read"));
}

TEST(InferTranspose, Permutes) {
  EXPECT_EQ(Infer(kTranspose, {"f32[2,<=3,4]"}, DimensionsAttributes{{2, 0, 1}}), "f32[4,2,<=3]");
  EXPECT_THAT(Infer(kTranspose, {"f32[2,3]"}, DimensionsAttributes{{0, 0}}), HasSubstr("twice"));
  EXPECT_THAT(Infer(kTranspose, {"f32[2,3]"}, DimensionsAttributes{{0}}), HasSubstr("rank"));
}

TEST(InferSlice, CountsStridedElements) {
  const auto slice = [](Dims start, Dims limit, Dims stride) {
    return Infer(kSlice, {"f32[10,4]"}, SliceAttributes{start, limit, stride});
  };
  EXPECT_EQ(slice({0, 1}, {10, 3}, {3, 1}), "f32[4,2]");
  EXPECT_EQ(slice({5, 0}, {5, 4}, {1, INT64_MAX}), "f32[0,1]");
  EXPECT_THAT(slice({0, 0}, {11, 4}, {1, 1}), HasSubstr("[0:11:1] in dimension 0"));
  EXPECT_THAT(slice({-1, 0}, {10, 4}, {1, 1}), HasSubstr("does not lie in"));
  EXPECT_THAT(slice({6, 0}, {5, 4}, {1, 1}), HasSubstr("does not lie in"));
  EXPECT_THAT(slice({0, 0}, {10, 4}, {0, 1}), HasSubstr("does not lie in"));
  EXPECT_THAT(slice({INT64_MIN, 0}, {INT64_MAX, 4}, {1, 1}), HasSubstr("does not lie in"));
  EXPECT_THAT(slice({0}, {10}, {1}), HasSubstr("one a dimension"));
}

TEST(InferDynamicSlice, TakesOneIndexADimension) {
  EXPECT_EQ(Infer(kDynamicSlice, {"f32[4,8]", "s32[]", "s32[]"}, DynamicSliceAttributes{{1, 8}}), "f32[1,8]");
  EXPECT_THAT(Infer(kDynamicSlice, {"f32[4,8]", "s32[]"}, DynamicSliceAttributes{{1, 8}}),
              HasSubstr("start indices (1)"));
  EXPECT_THAT(Infer(kDynamicSlice, {"f32[4,8]", "s32[]", "s64[]"}, DynamicSliceAttributes{{1, 8}}),
              HasSubstr("differs from"));
  EXPECT_THAT(Infer(kDynamicSlice, {"f32[4,8]", "f32[]", "f32[]"}, DynamicSliceAttributes{{1, 8}}),
              HasSubstr("integer scalar"));
  EXPECT_THAT(Infer(kDynamicSlice, {"f32[4,8]", "s32[]", "s32[]"}, DynamicSliceAttributes{{5, 8}}),
              HasSubstr("(5) of dynamic-slice"));
  EXPECT_THAT(Infer(kDynamicSlice, {}, DynamicSliceAttributes{}), HasSubstr("no operands"));
  EXPECT_EQ(Infer(kDynamicUpdateSlice, {"f32[4,8]", "f32[1,8]", "s32[]", "s32[]"}), "f32[4,8]");
  EXPECT_THAT(Infer(kDynamicUpdateSlice, {"f32[4,8]", "f32[5,8]", "s32[]", "s32[]"}),
              HasSubstr("lies outside [0, 4]"));
  EXPECT_THAT(Infer(kDynamicUpdateSlice, {"f32[4,8]", "s32[1,8]", "s32[]", "s32[]"}),
              HasSubstr("element type"));
}

TEST(InferPad, AddsLowHighAndInterior) {
  const auto pad = [](std::string_view shape, PadDimension dimension) {
    return Infer(kPad, {shape, "f32[]"}, PadAttributes{{dimension}});
  };
  EXPECT_EQ(pad("f32[4]", {1, 2, 1}), "f32[10]");
  EXPECT_EQ(pad("f32[4]", {-1, -2, 0}), "f32[1]");
  EXPECT_EQ(pad("f32[0]", {1, 1, 5}), "f32[2]");
  EXPECT_EQ(pad("f32[<=4]", {1, 2, 0}), "f32[<=7]");
  EXPECT_THAT(pad("f32[4]", {-3, -2, 0}), HasSubstr("size outside [0, 1099511627776]"));
  EXPECT_THAT(pad("f32[4]", {0, 0, -1}), HasSubstr("interior padding (-1)"));
  EXPECT_THAT(Infer(kPad, {"f32[4]", "f32[1]"}, PadAttributes{{{0, 0, 0}}}), HasSubstr("not a scalar"));
}

// The code that runs a pad adds and multiplies its numbers in 64 bits.
TEST(InferPad, ExtentsAreBounded) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const auto pad = [](std::string_view shape, PadDimension dimension) {
    return Infer(kPad, {shape, "u8[]"}, PadAttributes{{dimension}});
  };
  EXPECT_EQ(pad("u8[1]", {-kMost, kMost, kMost}), "u8[1]");
  EXPECT_EQ(pad("u8[2]", {0, 0, kMost - 2}), "u8[1099511627776]");
  EXPECT_THAT(pad("u8[1]", {0, 0, INT64_MAX}), HasSubstr("interior padding (9223372036854775807)"));
  EXPECT_THAT(pad("u8[1]", {0, 0, kMost + 1}), HasSubstr("exceeds the limit (1099511627776)"));
  EXPECT_THAT(pad("u8[?]", {0, 0, kMost + 1}), HasSubstr("exceeds the limit (1099511627776)"));
  EXPECT_THAT(pad("u8[1]", {-kMost - 1, kMost, 0}), HasSubstr("low padding (-1099511627777)"));
  EXPECT_THAT(pad("u8[1]", {INT64_MIN, 0, 0}), HasSubstr("low padding (-9223372036854775808)"));
  EXPECT_THAT(pad("u8[1]", {-kMost, kMost + 1, 0}), HasSubstr("high padding (1099511627777)"));
  EXPECT_THAT(pad("u8[1]", {kMost, 0, 0}), HasSubstr("size outside [0, 1099511627776]"));
  // Negative padding leaves few elements, but before it their positions are too many.
  EXPECT_THAT(pad("u8[3]", {-kMost, -kMost, kMost}), HasSubstr("size outside [0, 1099511627776]"));
}

TEST(InferConcatenate, SumsAlongOneDimension) {
  EXPECT_EQ(Infer(kConcatenate, {"f32[4,2]", "f32[3,2]", "f32[0,2]"}, DimensionsAttributes{{0}}), "f32[7,2]");
  EXPECT_EQ(Infer(kConcatenate, {"f32[4]", "f32[<=3]"}, DimensionsAttributes{{0}}), "f32[<=7]");
  EXPECT_THAT(Infer(kConcatenate, {"f32[4,2]", "f32[3,3]"}, DimensionsAttributes{{0}}),
              HasSubstr("outside dimension 0"));
  EXPECT_THAT(Infer(kConcatenate, {}, DimensionsAttributes{{0}}), HasSubstr("no operands"));
  EXPECT_THAT(Infer(kConcatenate, {"f32[4]", "s32[4]"}, DimensionsAttributes{{0}}),
              HasSubstr("element type"));
  EXPECT_THAT(Infer(kConcatenate, {"pred[9223372036854775807]", "pred[1]"}, DimensionsAttributes{{0}}),
              HasSubstr("overflows"));
  EXPECT_THAT(Infer(kConcatenate, {"f32[]"}, DimensionsAttributes{{0}}), HasSubstr("lies outside [0, 0)"));
}

TEST(InferReverse, NamesDimensionsOnce) {
  EXPECT_EQ(Infer(kReverse, {"f32[4,8]"}, DimensionsAttributes{{1, 0}}), "f32[4,8]");
  EXPECT_THAT(Infer(kReverse, {"f32[4,8]"}, DimensionsAttributes{{1, 1}}), HasSubstr("twice"));
}

TEST(InferGather, LooksUpRows) {
  EXPECT_EQ(Infer(kGather, {"f32[16,8]", "s32[5,1]"}, RowGather(8)), "f32[5,8]");
  GatherAttributes implicit = RowGather(8);
  EXPECT_EQ(Infer(kGather, {"f32[16,8]", "s32[5]"}, implicit), "f32[5,8]");
}

TEST(InferGather, PairsBatchingDimensions) {
  GatherAttributes gather;
  gather.operand_batching_dims = {0};
  gather.start_indices_batching_dims = {1};
  gather.start_index_map = {1};
  gather.collapsed_slice_dims = {1};
  gather.offset_dims = {2};
  gather.index_vector_dim = 2;
  gather.slice_sizes = {1, 1, 7};
  EXPECT_EQ(Infer(kGather, {"f32[3,16,7]", "s32[4,3,1]"}, gather), "f32[4,3,7]");
  EXPECT_THAT(Infer(kGather, {"f32[3,16,7]", "s32[4,5,1]"}, gather), HasSubstr("Batching dimension (1)"));
}

TEST(InferGather, RefusesDimensionNumbersThatDoNotFit) {
  const auto broken = [](auto change) {
    GatherAttributes gather = RowGather(8);
    change(gather);
    return Infer(kGather, {"f32[16,8]", "s32[5,1]"}, gather);
  };
  EXPECT_THAT(broken([](auto& g) { g.slice_sizes = {1, 9}; }), HasSubstr("slice size (9)"));
  EXPECT_THAT(broken([](auto& g) { g.slice_sizes = {2, 8}; }), HasSubstr("is more than 1"));
  EXPECT_THAT(broken([](auto& g) { g.slice_sizes = {1}; }), HasSubstr("slice sizes (1)"));
  EXPECT_THAT(broken([](auto& g) { g.offset_dims = {2}; }), HasSubstr("lies outside [0, 2)"));
  EXPECT_THAT(broken([](auto& g) { g.offset_dims = {0, 1}; }), HasSubstr("cover (3)"));
  EXPECT_THAT(broken([](auto& g) { g.start_index_map = {0, 1}; }), HasSubstr("index vectors"));
  EXPECT_THAT(broken([](auto& g) { g.start_index_map = {-1}; }), HasSubstr("lies outside"));
  EXPECT_THAT(broken([](auto& g) { g.index_vector_dim = 3; }), HasSubstr("index_vector_dim (3)"));
  EXPECT_THAT(broken([](auto& g) { g.index_vector_dim = INT64_MIN; }), HasSubstr("lies outside"));
  EXPECT_THAT(broken([](auto& g) { g.collapsed_slice_dims = {64}; }), HasSubstr("lies outside"));
  EXPECT_THAT(Infer(kGather, {"f32[16,8]", "f32[5,1]"}, RowGather(8)), HasSubstr("not an integer array"));
}

TEST(InferScatter, TakesUpdatesAsGatherGivesThem) {
  const std::vector<ProgramShape> add = {Signature({"f32[]", "f32[]"}, "f32[]")};
  EXPECT_EQ(Infer(kScatter, {"f32[16,8]", "s32[5,1]", "f32[5,8]"}, RowScatter(), {}, add), "f32[16,8]");
  EXPECT_EQ(Infer(kScatter, {"f32[16,8]", "s32[5,1]", "f32[5,3]"}, RowScatter(), {}, add), "f32[16,8]");
  EXPECT_THAT(Infer(kScatter, {"f32[16,8]", "s32[5,1]", "f32[5,9]"}, RowScatter(), {}, add),
              HasSubstr("does not fit"));
  EXPECT_THAT(Infer(kScatter, {"f32[16,8]", "s32[5,1]", "f32[4,8]"}, RowScatter(), {}, add),
              HasSubstr("does not fit"));
  EXPECT_THAT(Infer(kScatter, {"f32[16,8]", "s32[5,1]", "f32[5]"}, RowScatter(), {}, add),
              HasSubstr("does not fit"));
  EXPECT_THAT(Infer(kScatter, {"f32[16,8]", "s32[5,1]"}, RowScatter(), {}, add), HasSubstr("is not 2n+1"));
  EXPECT_THAT(Infer(kScatter, {"f32[16,8]", "s32[5,1]", "f32[5,8]"}, RowScatter(), {},
                    {Signature({"f32[]"}, "f32[]")}),
              HasSubstr("takes (1) parameters; (2) are given"));
}

TEST(InferScatter, SeveralInputsGiveATuple) {
  const std::vector<ProgramShape> both = {Signature({"f32[]", "s32[]", "f32[]", "s32[]"}, "(f32[], s32[])")};
  EXPECT_EQ(
      Infer(kScatter, {"f32[16,8]", "s32[16,8]", "s32[5,1]", "f32[5,8]", "s32[5,8]"}, RowScatter(), {}, both),
      "(f32[16,8], s32[16,8])");
}

}  // namespace
}  // namespace hlod::hlo
