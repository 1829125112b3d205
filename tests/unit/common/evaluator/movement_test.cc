// Data movement: negative and interior padding, clamped starts, dropped updates, batching dimensions.
#include <limits>

#include "tests/unit/common/evaluator/evaluate_one.h"
#include "tests/unit/common/hlo/row_gather.h"

namespace hlod {
namespace {

const Literal kMatrix = Literal::Array<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(Pad, LowHighInteriorAndNegative) {
  const auto pad = [](PadDimension d) {
    return Numbers(Result(EvaluateOne({.opcode = kPad, .attributes = PadAttributes{{d}}},
                                      {Literal::Vector<int32_t>({1, 2, 3}), Literal::Scalar<int32_t>(0)})));
  };
  EXPECT_THAT(pad({.low = 1, .high = 2}), ElementsAre(0, 1, 2, 3, 0, 0));
  EXPECT_THAT(pad({.interior = 2}), ElementsAre(1, 0, 0, 2, 0, 0, 3));
  EXPECT_THAT(pad({.low = -1, .high = -1}), ElementsAre(2));
  EXPECT_THAT(pad({.low = -1, .high = 1, .interior = 1}), ElementsAre(0, 2, 0, 3, 0));
  EXPECT_THAT(pad({.low = -2, .high = -2, .interior = 1}), ElementsAre(2));
  EXPECT_THAT(pad({.low = -3, .high = 2}), ElementsAre(0, 0));
  EXPECT_THAT(pad({.low = 2, .high = -3}), ElementsAre(0, 0));
}

// At the bounds of inference: the only element is cropped away, and none of its bytes is written.
TEST(Pad, TheLargestExtents) {
  constexpr int64_t kMost = int64_t{1} << 40;
  EXPECT_THAT(
      Numbers(Result(EvaluateOne({.opcode = kPad, .attributes = PadAttributes{{{-kMost, kMost, kMost}}}},
                                 {Literal::Vector<int32_t>({7}), Literal::Scalar<int32_t>(3)}))),
      ElementsAre(3));
}

TEST(DynamicSlice, StartsAreClampedIntoRange) {
  const auto slice = [](Literal start) {
    return Numbers(Result(EvaluateOne({.opcode = kDynamicSlice, .attributes = DynamicSliceAttributes{{2}}},
                                      {Literal::Vector<float>({0, 1, 2, 3, 4}), std::move(start)})));
  };
  EXPECT_THAT(slice(Literal::Scalar<int32_t>(1)), ElementsAre(1, 2));
  EXPECT_THAT(slice(Literal::Scalar<int32_t>(-7)), ElementsAre(0, 1));
  EXPECT_THAT(slice(Literal::Scalar<int32_t>(99)), ElementsAre(3, 4));
  EXPECT_THAT(slice(Literal::Scalar<uint64_t>(std::numeric_limits<uint64_t>::max())), ElementsAre(3, 4));
  EXPECT_THAT(slice(Literal::Scalar<uint8_t>(255)), ElementsAre(3, 4));
}

TEST(DynamicUpdateSlice, StartsAreClampedAndTheCallersArrayIsKept) {
  const Literal x = Literal::Vector<float>({0, 0, 0, 0});
  const Literal updated =
      Apply(kDynamicUpdateSlice, {x, Literal::Vector<float>({7, 8}), Literal::Scalar<int32_t>(9)});
  EXPECT_THAT(Numbers(updated), ElementsAre(0, 0, 7, 8));
  EXPECT_THAT(Numbers(x), ElementsAre(0, 0, 0, 0));
}

TEST(Movement, ViewsOfAMatrix) {
  EXPECT_THAT(Numbers(Result(EvaluateOne({.opcode = kTranspose, .attributes = DimensionsAttributes{{1, 0}}},
                                         {kMatrix}))),
              ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(
      Numbers(Result(EvaluateOne({.opcode = kReverse, .attributes = DimensionsAttributes{{1}}}, {kMatrix}))),
      ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_THAT(Numbers(Result(EvaluateOne(
                  {.opcode = kSlice, .attributes = SliceAttributes{{1, 0}, {2, 3}, {1, 2}}}, {kMatrix}))),
              ElementsAre(4, 6));
  EXPECT_THAT(Numbers(Result(EvaluateOne({.opcode = kConcatenate, .attributes = DimensionsAttributes{{1}}},
                                         {kMatrix, Literal::Array<int32_t>({2, 1}, {8, 9})}))),
              ElementsAre(1, 2, 3, 8, 4, 5, 6, 9));
  EXPECT_THAT(Numbers(Result(EvaluateOne({.opcode = kBroadcast,
                                          .attributes = DimensionsAttributes{{1}},
                                          .declared = Shape::Array(kS32, {2, 2})},
                                         {Literal::Vector<int32_t>({8, 9})}))),
              ElementsAre(8, 9, 8, 9));
}

TEST(Iota, CountsAlongItsDimensionInAnyType) {
  const auto iota = [](PrimitiveType type) {
    return Numbers(Result(EvaluateOne(
        {.opcode = kIota, .attributes = DimensionsAttributes{{1}}, .declared = Shape::Array(type, {2, 3})},
        {})));
  };
  for (PrimitiveType type : {kS32, kBF16, kF64, kC64, kU8})
    EXPECT_THAT(iota(type), ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(Gather, OutOfBoundsStartsAreClamped) {
  const Literal table = Literal::Array<float>({3, 2}, {0, 1, 10, 11, 20, 21});
  EXPECT_THAT(Numbers(Result(EvaluateOne({.opcode = kGather, .attributes = RowGather(2)},
                                         {table, Literal::Array<int32_t>({4, 1}, {1, -5, 99, 0})}))),
              ElementsAre(10, 11, 0, 1, 20, 21, 0, 1));
}

TEST(Gather, BatchingDimensionsFollowTheIndices) {
  // Gathers, for each row b, element index[b] of row b.
  GatherAttributes gather;
  gather.collapsed_slice_dims = {1};
  gather.operand_batching_dims = {0};
  gather.start_indices_batching_dims = {0};
  gather.start_index_map = {1};
  gather.index_vector_dim = 1;
  gather.slice_sizes = {1, 1};
  EXPECT_THAT(Numbers(Result(EvaluateOne({.opcode = kGather, .attributes = gather},
                                         {kMatrix, Literal::Array<int32_t>({2, 1}, {2, 0})}))),
              ElementsAre(3, 4));
}

TEST(Scatter, AddsDuplicatesAndDropsOutOfBounds) {
  EXPECT_THAT(
      Numbers(Result(EvaluateOne(
          {.opcode = kScatter, .attributes = RowScatter(), .callees = Reducer(kAdd, kF32)},
          {Literal::Array<float>({2, 2}, {0, 0, 100, 100}), Literal::Array<int32_t>({5, 1}, {0, 0, 2, -1, 1}),
           Literal::Array<float>({5, 2}, {1, 2, 3, 4, 5, 5, 6, 6, 7, 8})}))),
      ElementsAre(4, 6, 107, 108));
}

TEST(Scatter, DropsAWindowThatDoesNotFitAsAWhole) {
  ScatterAttributes scatter;
  scatter.update_window_dims = {1};
  scatter.scatter_dims_to_operand_dims = {0};
  scatter.index_vector_dim = 1;
  EXPECT_THAT(Numbers(Result(
                  EvaluateOne({.opcode = kScatter, .attributes = scatter, .callees = Reducer(kMaximum, kS32)},
                              {Literal::Vector<int32_t>({0, 0, 0}), Literal::Array<int32_t>({2, 1}, {2, 1}),
                               Literal::Array<int32_t>({2, 2}, {9, 9, 5, 6})}))),
              ElementsAre(0, 5, 6));
}

TEST(Scatter, SeveralOperandsShareACombinerOfAny) {
  // Combiner (a, b, x, y) -> (x, b - y): replaces the first value, subtracts from the second.
  const auto combiner = [](Module& module) {
    Builder b(module, "combine");
    const Shape s = Shape::Scalar(kS32);
    b.Parameter(0, s);
    const Op second = b.Parameter(1, s), x = b.Parameter(2, s), y = b.Parameter(3, s);
    EXPECT_TRUE(b.Build(b.Tuple({x, second - y})).ok());
    return std::vector<ComputationId>{b.id()};
  };
  ScatterAttributes scatter;
  scatter.inserted_window_dims = {0};
  scatter.scatter_dims_to_operand_dims = {0};
  scatter.index_vector_dim = 1;
  const Literal result =
      Result(EvaluateOne({.opcode = kScatter, .attributes = scatter, .callees = combiner},
                         {Literal::Vector<int32_t>({1, 2}), Literal::Vector<int32_t>({10, 20}),
                          Literal::Array<int32_t>({2, 1}, {1, 1}), Literal::Vector<int32_t>({7, 8}),
                          Literal::Vector<int32_t>({1, 2})}));
  EXPECT_THAT(Numbers(result.elements()[0]), ElementsAre(1, 8));
  EXPECT_THAT(Numbers(result.elements()[1]), ElementsAre(10, 17));
}

}  // namespace
}  // namespace hlod
