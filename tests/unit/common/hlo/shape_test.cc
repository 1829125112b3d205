// Shapes: their text, their size, and shapes that are refused.
#include "common/hlo/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/text/strings.h"

namespace hlod::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Shape Dynamic(PrimitiveType type, Dims dims, absl::InlinedVector<bool, 6> dynamic) {
  Shape shape = Shape::Array(type, dims);
  shape.dynamic = std::move(dynamic);
  return shape;
}

Shape WithLayout(Shape shape, Dims minor_to_major) {
  shape.layout.emplace();
  shape.layout->minor_to_major = std::move(minor_to_major);
  return shape;
}

std::string Message(const absl::Status& status) { return std::string(FromAbsl(status.message())); }

TEST(ShapeText, IsXlasSpelling) {
  EXPECT_EQ(ToString(Shape::Array(kF32, {2, 3})), "f32[2,3]");
  EXPECT_EQ(ToString(Shape::Scalar(kPred)), "pred[]");
  EXPECT_EQ(ToString(Shape::Token()), "token[]");
  EXPECT_EQ(ToString(Shape::Tuple({})), "()");
  EXPECT_EQ(ToString(Shape::Tuple({Shape::Scalar(kS32), Shape::Tuple({Shape::Array(kBF16, {8})})})),
            "(s32[], (bf16[8]))");
  EXPECT_EQ(ToString(Dynamic(kF32, {8, kUnboundedSize, 4}, {true, true, false})), "f32[<=8,?,4]");
}

TEST(ShapeText, MarksEachFifthTupleElement) {
  const Shape s = Shape::Scalar(kF32);
  EXPECT_EQ(ToString(Shape::Tuple({s, s, s, s, s, s})),
            "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])");
}

TEST(ShapeText, PrintsLayoutsOnlyWhenAsked) {
  const Shape shape = WithLayout(Shape::Array(kF32, {2, 3}), {0, 1});
  EXPECT_EQ(ToString(shape), "f32[2,3]{0,1}");
  EXPECT_EQ(ToStringNoLayout(shape), "f32[2,3]");
  EXPECT_EQ(ToString(WithLayout(Shape::Scalar(kF32), {})), "f32[]");
}

TEST(ShapeText, PrintsTheLayoutsTail) {
  Shape shape = WithLayout(Shape::Array(kS4, {16, 128}), {1, 0});
  shape.layout->tiles = {{8, 128}, {INT64_MIN, 1}};
  shape.layout->tail_padding_alignment = 4;
  shape.layout->index_type = kU32;
  shape.layout->pointer_type = kU64;
  shape.layout->element_size_in_bits = 4;
  shape.layout->memory_space = 5;
  shape.layout->split_configs = {{0, {4, 8}}};
  shape.layout->dynamic_shape_metadata_prefix_bytes = 16;
  EXPECT_EQ(ToString(shape), "s4[16,128]{1,0:T(8,128)(*,1)L(4)#(u32)*(u64)E(4)S(5)SC(0:4,8)M(16)}");
}

TEST(ShapeEquality, LayoutsCountOnlyForTheStrictOne) {
  const Shape plain = Shape::Array(kF32, {2, 3}), column = WithLayout(plain, {0, 1});
  EXPECT_FALSE(plain == column);
  EXPECT_TRUE(Compatible(plain, column));
  EXPECT_TRUE(Compatible(Shape::Tuple({plain}), Shape::Tuple({column})));
  EXPECT_FALSE(Compatible(plain, Shape::Array(kBF16, {2, 3})));
  EXPECT_FALSE(Compatible(Shape::Tuple({plain}), Shape::Tuple({plain, plain})));
}

TEST(ShapeEquality, NoFlagsAndAllFalseFlagsAreOne) {
  EXPECT_EQ(Shape::Array(kF32, {2}), Dynamic(kF32, {2}, {false}));
  EXPECT_FALSE(Shape::Array(kF32, {2}) == Dynamic(kF32, {2}, {true}));
}

TEST(ShapeSize, CountsBytesAndRefusesToWrap) {
  EXPECT_EQ(ByteSize(Shape::Array(kF32, {2, 3})), 24);
  EXPECT_EQ(ByteSize(Shape::Array(kS4, {3})), 3);
  EXPECT_EQ(ByteSize(Shape::Array(kC128, {})), 16);
  EXPECT_EQ(ByteSize(Shape::Tuple({Shape::Array(kF64, {2}), Shape::Token(), Shape::Scalar(kPred)})), 17);
  EXPECT_EQ(ElementCount(Shape::Array(kF32, {0, INT64_MAX, INT64_MAX})), 0);
  EXPECT_EQ(ElementCount(Shape::Array(kF32, {int64_t{1} << 32, int64_t{1} << 32})), std::nullopt);
  EXPECT_EQ(ByteSize(Shape::Array(kF32, {int64_t{1} << 62})), std::nullopt);
  EXPECT_EQ(ByteSize(Shape::Array(kPred, {INT64_MAX})), INT64_MAX);
  EXPECT_EQ(ByteSize(Shape::Tuple({Shape::Array(kPred, {INT64_MAX}), Shape::Scalar(kPred)})), std::nullopt);
  EXPECT_EQ(ElementCount(Dynamic(kF32, {kUnboundedSize}, {true})), std::nullopt);
  EXPECT_EQ(ElementCount(Dynamic(kF32, {8}, {true})), 8);
}

TEST(ShapeWalk, LeavesComeDepthFirst) {
  const Shape shape = Shape::Tuple(
      {Shape::Scalar(kS32), Shape::Tuple({}), Shape::Tuple({Shape::Token(), Shape::Scalar(kF32)})});
  const std::vector<ShapeLeaf> leaves = Leaves(shape);
  ASSERT_EQ(leaves.size(), 3u);
  EXPECT_THAT(leaves[0].index, ElementsAre(0));
  EXPECT_THAT(leaves[1].index, ElementsAre(2, 0));
  EXPECT_THAT(leaves[2].index, ElementsAre(2, 1));
  EXPECT_EQ(leaves[2].shape, SubShape(shape, {2, 1}));
  EXPECT_EQ(SubShape(shape, {3}), nullptr);
  EXPECT_EQ(SubShape(shape, {-1}), nullptr);
  EXPECT_EQ(SubShape(shape, {0, 0}), nullptr);
  EXPECT_EQ(Leaves(Shape::Scalar(kF32)).size(), 1u);
}

TEST(ValidateShape, TakesWhatExists) {
  EXPECT_TRUE(ValidateShape(Shape::Array(kF32, {0, 3})).ok());
  EXPECT_TRUE(ValidateShape(Shape::Tuple({Shape::Token(), Shape::Scalar(kS32)})).ok());
  EXPECT_TRUE(ValidateShape(Dynamic(kF32, {kUnboundedSize, 8}, {true, true})).ok());
  EXPECT_TRUE(ValidateShape(WithLayout(Shape::Array(kF32, {2, 3, 4}), {0, 2, 1})).ok());
}

TEST(ValidateShape, NamesWhatIsWrong) {
  const auto refused = [](const Shape& shape) { return Message(ValidateShape(shape)); };
  EXPECT_THAT(refused(Shape()), HasSubstr("no valid element type"));
  EXPECT_THAT(refused(Shape::Array(kF32, {-1})), HasSubstr("size (-1) of dimension 0"));
  EXPECT_THAT(refused(Shape::Array(kF32, {kUnboundedSize})), HasSubstr("negative"));
  EXPECT_THAT(refused(Shape::Array(kF32, {int64_t{1} << 62})), HasSubstr("overflows"));
  EXPECT_THAT(refused(Shape::Array(kF32, std::vector<int64_t>(65, 1))), HasSubstr("rank (65)"));
  EXPECT_THAT(refused(WithLayout(Shape::Array(kF32, {2, 3}), {0, 0})), HasSubstr("not a permutation"));
  EXPECT_THAT(refused(WithLayout(Shape::Array(kF32, {2, 3}), {0, 2})), HasSubstr("dimension (2)"));
  EXPECT_THAT(refused(WithLayout(Shape::Array(kF32, {2, 3}), {0, -1})), HasSubstr("dimension (-1)"));
  EXPECT_THAT(refused(WithLayout(Shape::Array(kF32, {2, 3}), {0})), HasSubstr("names (1)"));
  EXPECT_THAT(refused(Dynamic(kF32, {2, 3}, {true})), HasSubstr("dynamic flags"));
}

TEST(ValidateShape, RefusesDeepAndWideTuples) {
  Shape deep = Shape::Scalar(kF32);
  for (int i = 0; i < kMaxTupleDepth + 1; ++i) deep = Shape::Tuple({deep});
  EXPECT_THAT(Message(ValidateShape(deep)), HasSubstr("nests deeper than the limit (64)"));
  Shape wide = Shape::Tuple(std::vector<Shape>(2048, Shape::Scalar(kF32)));
  wide = Shape::Tuple(std::vector<Shape>(513, wide));
  EXPECT_THAT(Message(ValidateShape(wide)), HasSubstr("more shapes than the limit"));
  EXPECT_EQ(NodeCount(wide), kMaxShapeNodes + 1);
}

TEST(RowMajorStrides, CountElementsBehindEachDimension) {
  EXPECT_THAT(RowMajorStrides({2, 3, 4}), ElementsAre(12, 4, 1));
  EXPECT_THAT(RowMajorStrides({}), ElementsAre());
  EXPECT_THAT(RowMajorStrides({INT64_MAX, INT64_MAX, 2}), testing::SizeIs(3));
}

}  // namespace
}  // namespace hlod::hlo
