// Shape rules of ragged and scaled dots. The order of the dimensions is that of JAX's ragged_dot_general and
// scaled_dot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/common/hlo/inference/test_util.h"

namespace hlod::hlo {
namespace {

using ::testing::HasSubstr;

RaggedDotAttributes Ragged(Dims lhs_contracting, Dims rhs_contracting, int64_t ragged, Dims group = {},
                           Dims lhs_batch = {}, Dims rhs_batch = {}) {
  RaggedDotAttributes attributes;
  attributes.dot.lhs_contracting = lhs_contracting;
  attributes.dot.rhs_contracting = rhs_contracting;
  attributes.dot.lhs_batch = lhs_batch;
  attributes.dot.rhs_batch = rhs_batch;
  attributes.lhs_ragged = {ragged};
  attributes.rhs_group = group;
  return attributes;
}

// [m,k] x [g,k,n] -> [m,n]
TEST(InferRaggedDot, GroupsOfRowsHaveAnRhsEach) {
  EXPECT_EQ(Infer(kRaggedDot, {"f32[9,4]", "f32[3,4,5]", "s32[3]"}, Ragged({1}, {1}, 0, {0})), "f32[9,5]");
  EXPECT_EQ(Infer(kRaggedDot, {"bf16[9,4]", "bf16[3,4,5]", "s64[3]"}, Ragged({1}, {1}, 0, {0}), {"f32[9,5]"}),
            "f32[9,5]");
  EXPECT_EQ(Infer(kRaggedDot, {"f32[2,9,4]", "f32[3,2,4,5]", "s32[2,3]"}, Ragged({2}, {2}, 1, {0}, {0}, {1})),
            "f32[2,9,5]");
  // Each row outside the ragged dimension may have its own group sizes.
  EXPECT_EQ(Infer(kRaggedDot, {"f32[7,9,4]", "f32[3,4,5]", "s32[7,3]"}, Ragged({2}, {1}, 1, {0})),
            "f32[7,9,5]");
  EXPECT_THAT(Infer(kRaggedDot, {"f32[9,4]", "f32[3,4,5]", "s32[2]"}, Ragged({1}, {1}, 0, {0})),
              HasSubstr("another number of groups"));
  EXPECT_THAT(Infer(kRaggedDot, {"f32[9,4]", "f32[3,4,5]", "f32[3]"}, Ragged({1}, {1}, 0, {0})),
              HasSubstr("does not hold the sizes of groups"));
  EXPECT_THAT(Infer(kRaggedDot, {"f32[9,4]", "f32[3,4,5]", "s32[9,3]"}, Ragged({1}, {1}, 0, {0})),
              HasSubstr("does not hold the sizes of groups"));
  EXPECT_THAT(Infer(kRaggedDot, {"f32[9,4]", "f32[3,4,5]", "s32[3]"}, Ragged({1}, {1}, 0)),
              HasSubstr("group dimensions (0) of ragged-dot differs from (1)"));
  EXPECT_THAT(Infer(kRaggedDot, {"f32[9,4]", "f32[3,4,5]", "s32[3]"}, Ragged({1}, {1}, 2, {0})),
              HasSubstr("ragged"));
}

// [m,k] x [k,n] -> [g,m,n]
TEST(InferRaggedDot, GroupsOfASumComeFirst) {
  EXPECT_EQ(Infer(kRaggedDot, {"f32[9,4]", "f32[9,6]", "s32[3]"}, Ragged({0}, {0}, 0)), "f32[3,4,6]");
  EXPECT_EQ(Infer(kRaggedDot, {"f32[2,9,4]", "f32[2,9,6]", "s32[2,3]"}, Ragged({1}, {1}, 1, {}, {0}, {0})),
            "f32[3,2,4,6]");
}

TEST(InferRaggedDot, OverABatchIsADot) {
  EXPECT_EQ(Infer(kRaggedDot, {"f32[8,9,4]", "f32[8,4,6]", "s32[3]"}, Ragged({2}, {1}, 0, {}, {0}, {0})),
            "f32[8,9,6]");
}

TEST(InferScaledDot, ScalesDivideTheirOperands) {
  DotAttributes dot;
  dot.lhs_contracting = {1};
  dot.rhs_contracting = {0};
  EXPECT_EQ(Infer(kScaledDot, {"f8e4m3fn[4,64]", "f8e4m3fn[64,3]", "f8e8m0fnu[4,2]", "f8e8m0fnu[2,3]"}, dot,
                  {"f32[4,3]"}),
            "f32[4,3]");
  EXPECT_EQ(Infer(kScaledDot, {"bf16[4,64]", "bf16[64,3]", "bf16[1,1]", "bf16[64,3]"}, dot), "bf16[4,3]");
  EXPECT_THAT(Infer(kScaledDot, {"bf16[4,64]", "bf16[64,3]", "bf16[4,3]", "bf16[64,3]"}, dot),
              HasSubstr("Operand 2 shape (bf16[4,3]) of scaled-dot"));
  EXPECT_THAT(Infer(kScaledDot, {"bf16[4,64]", "bf16[64,3]", "bf16[4,2]", "bf16[64]"}, dot),
              HasSubstr("Operand 3"));
}

}  // namespace
}  // namespace hlod::hlo
