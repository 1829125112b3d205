// Reductions, windows and sorts: order, exactness, ties, arbitrary computations.
#include <cmath>
#include <limits>

#include "tests/unit/common/evaluator/evaluate_one.h"

namespace hlod {
namespace {

const float kNanF = std::numeric_limits<float>::quiet_NaN();

TEST(Reduce, SumsOfFloatsAreRoundedOnce) {
  // 2^24 + 1 + 1 ...: in f32 each single addition would be lost.
  Literal x(Shape::Array(kF32, {65}));
  x.data<float>()[0] = 16777216;
  for (int i = 1; i <= 64; ++i) x.data<float>()[i] = 1;
  const OneInstruction sum{
      .opcode = kReduce, .attributes = DimensionsAttributes{{0}}, .callees = Reducer(kAdd, kF32)};
  EXPECT_EQ(Numbers(Result(EvaluateOne(sum, {x, Literal::Scalar(0.0f)})))[0], 16777280);
}

TEST(Reduce, AnyDimensionsOfAnyRank) {
  const Literal x = Literal::Array<int32_t>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto sum = [&](Dims dims) {
    return Numbers(Result(EvaluateOne(
        {.opcode = kReduce, .attributes = DimensionsAttributes{dims}, .callees = Reducer(kAdd, kS32)},
        {x, Literal::Scalar<int32_t>(100)})));
  };
  EXPECT_THAT(sum({0}), ElementsAre(106, 108, 110, 112));
  EXPECT_THAT(sum({1}), ElementsAre(104, 106, 112, 114));
  EXPECT_THAT(sum({0, 2}), ElementsAre(114, 122));
  EXPECT_THAT(sum({0, 1, 2}), ElementsAre(136));
}

TEST(Reduce, NoElementsGiveTheInitialValueAndNanIsTheMaximum) {
  const OneInstruction max{
      .opcode = kReduce, .attributes = DimensionsAttributes{{1}}, .callees = Reducer(kMaximum, kF32)};
  EXPECT_THAT(Numbers(Result(EvaluateOne(max, {Literal::Array<float>({2, 0}, {}), Literal::Scalar(-5.0f)}))),
              ElementsAre(-5, -5));
  EXPECT_TRUE(std::isnan(Numbers(
      Result(EvaluateOne(max, {Literal::Array<float>({1, 3}, {1, kNanF, 2}), Literal::Scalar(0.0f)})))[0]));
}

// Compares with the first value and keeps the larger one and its index: argmax, with the first of equal
// values.
std::vector<ComputationId> Argmax(Module& module) {
  Builder b(module, "argmax");
  const Op value = b.Parameter(0, Shape::Scalar(kF32)), index = b.Parameter(1, Shape::Scalar(kS32));
  const Op other = b.Parameter(2, Shape::Scalar(kF32)), other_index = b.Parameter(3, Shape::Scalar(kS32));
  const Op keep = b.Compare(value, other, ComparisonDirection::kGe);
  EXPECT_TRUE(b.Build(b.Tuple({b.Select(keep, value, other), b.Select(keep, index, other_index)})).ok());
  return {b.id()};
}

TEST(Reduce, SeveralArraysAtOnce) {
  const Literal result = Result(
      EvaluateOne({.opcode = kReduce, .attributes = DimensionsAttributes{{1}}, .callees = Argmax},
                  {Literal::Array<float>({2, 3}, {3, 9, 9, -1, -2, -3}),
                   Literal::Array<int32_t>({2, 3}, {0, 1, 2, 0, 1, 2}),
                   Literal::Scalar(-std::numeric_limits<float>::infinity()), Literal::Scalar<int32_t>(-1)}));
  EXPECT_THAT(Numbers(result.elements()[0]), ElementsAre(9, -1));
  EXPECT_THAT(Numbers(result.elements()[1]), ElementsAre(1, 0));
}

TEST(ReduceWindow, StridesPaddingAndDilations) {
  const Literal x = Literal::Vector<int32_t>({1, 2, 3, 4, 5});
  const auto sums = [&](WindowDimension window) {
    return Numbers(Result(EvaluateOne(
        {.opcode = kReduceWindow, .attributes = WindowAttributes{{window}}, .callees = Reducer(kAdd, kS32)},
        {x, Literal::Scalar<int32_t>(0)})));
  };
  EXPECT_THAT(sums({.size = 2, .stride = 2}), ElementsAre(3, 7));
  EXPECT_THAT(sums({.size = 3, .padding_low = 1, .padding_high = 1}), ElementsAre(3, 6, 9, 12, 9));
  EXPECT_THAT(sums({.size = 5, .padding_low = 4}), ElementsAre(1, 3, 6, 10, 15));  // A cumulative sum.
  EXPECT_THAT(sums({.size = 2, .window_dilation = 3}), ElementsAre(5, 7));
  EXPECT_THAT(sums({.size = 2, .base_dilation = 2}), ElementsAre(1, 2, 2, 3, 3, 4, 4, 5));
}

TEST(SelectAndScatter, TheFirstOfEqualsIsSelectedAndOverlapsAdd) {
  const auto callees = [](Module& module) {
    Builder select(module, "ge");
    const Op a = select.Parameter(0, Shape::Scalar(kF32)), b = select.Parameter(1, Shape::Scalar(kF32));
    EXPECT_TRUE(select.Build(select.Compare(a, b, ComparisonDirection::kGe)).ok());
    const ComputationId ge = select.id();
    return std::vector<ComputationId>{ge, AddScalarReducer(module, kAdd, kF32)};
  };
  const WindowAttributes window{{{.size = 3, .stride = 2}}};
  EXPECT_THAT(
      Numbers(Result(EvaluateOne({.opcode = kSelectAndScatter, .attributes = window, .callees = callees},
                                 {Literal::Vector<float>({1, 1, 9, 2, 0}), Literal::Vector<float>({10, 20}),
                                  Literal::Scalar(0.5f)}))),
      ElementsAre(0.5, 0.5, 30.5, 0.5, 0.5));
  EXPECT_THAT(
      Numbers(Result(EvaluateOne(
          {.opcode = kSelectAndScatter, .attributes = window, .callees = callees},
          {Literal::Vector<float>({4, 4, 4, 4, 4}), Literal::Vector<float>({1, 2}), Literal::Scalar(0.0f)}))),
      ElementsAre(1, 0, 2, 0, 0));
}

// Sorts f32 keys with s32 values by the comparison of keys.
std::function<std::vector<ComputationId>(Module&)> ByKey(ComparisonDirection direction) {
  return [=](Module& module) {
    Builder b(module, "by_key");
    const Op x = b.Parameter(0, Shape::Scalar(kF32)), y = b.Parameter(1, Shape::Scalar(kF32));
    b.Parameter(2, Shape::Scalar(kS32));
    b.Parameter(3, Shape::Scalar(kS32));
    EXPECT_TRUE(b.Build(b.Compare(x, y, direction)).ok());
    return std::vector<ComputationId>{b.id()};
  };
}

TEST(Sort, CarriesValuesAlongAndKeepsTheOrderOfEquals) {
  const Literal keys = Literal::Array<float>({3, 2}, {2, 5, 1, 5, 2, 4}),
                values = Literal::Array<int32_t>({3, 2}, {0, 1, 2, 3, 4, 5});
  const Literal rows = Result(EvaluateOne(
      {.opcode = kSort, .attributes = SortAttributes{0, true}, .callees = ByKey(ComparisonDirection::kLt)},
      {keys, values}));
  EXPECT_THAT(Numbers(rows.elements()[0]), ElementsAre(1, 4, 2, 5, 2, 5));
  EXPECT_THAT(Numbers(rows.elements()[1]), ElementsAre(2, 5, 0, 1, 4, 3));
}

TEST(Sort, ComparatorWithoutOrderStaysInBounds) {
  Literal keys(Shape::Array(kF32, {1000})), values(Shape::Array(kS32, {1000}));
  for (int i = 0; i < 1000; ++i) values.data<int32_t>()[i] = i;
  for (ComparisonDirection always : {ComparisonDirection::kEq, ComparisonDirection::kNe}) {
    const Literal sorted = Result(EvaluateOne(
        {.opcode = kSort, .attributes = SortAttributes{0, true}, .callees = ByKey(always)}, {keys, values}));
    std::vector<double> permutation = Numbers(sorted.elements()[1]);
    std::sort(permutation.begin(), permutation.end());
    EXPECT_EQ(permutation, Numbers(values));
  }
}

TEST(TopK, NanIsLargestAndEqualsKeepTheirOrder) {
  const Literal x = Literal::Vector<float>({1, 7, kNanF, 7, -2});
  const Literal largest =
      Result(EvaluateOne({.opcode = kTopK, .attributes = TopKAttributes{.k = 3, .largest = true}}, {x}));
  EXPECT_THAT(Numbers(largest.elements()[1]), ElementsAre(2, 1, 3));
  const Literal smallest =
      Result(EvaluateOne({.opcode = kTopK, .attributes = TopKAttributes{.k = 2, .largest = false}}, {x}));
  EXPECT_THAT(Numbers(smallest.elements()[0]), ElementsAre(-2, 1));
}

TEST(Map, AppliesAnyScalarFunctionEvenOneWithALoop) {
  // f(n) doubles 1.0 n times.
  const auto callees = [](Module& module) {
    const Shape state = Shape::Tuple({Shape::Scalar(kS32), Shape::Scalar(kF32)});
    Builder condition(module, "condition");
    const Op left = condition.GetTupleElement(condition.Parameter(0, state), 0);
    EXPECT_TRUE(condition
                    .Build(condition.Compare(left, condition.Constant(Literal::Scalar<int32_t>(0)),
                                             ComparisonDirection::kGt))
                    .ok());
    Builder body(module, "body");
    const Op in = body.Parameter(0, state);
    const Op next = body.GetTupleElement(in, 0) - body.Constant(Literal::Scalar<int32_t>(1));
    const Op x = body.GetTupleElement(in, 1);
    EXPECT_TRUE(body.Build(body.Tuple({next, x + x})).ok());
    Builder f(module, "f");
    const Op start = f.Tuple({f.Parameter(0, Shape::Scalar(kS32)), f.Constant(1.0f)});
    EXPECT_TRUE(f.Build(f.GetTupleElement(f.While(start, condition.id(), body.id()), 1)).ok());
    return std::vector<ComputationId>{f.id()};
  };
  EXPECT_THAT(Numbers(Result(
                  EvaluateOne({.opcode = kMap, .attributes = DimensionsAttributes{{0}}, .callees = callees},
                              {Literal::Vector<int32_t>({0, 1, 5, 10})}))),
              ElementsAre(1, 2, 32, 1024));
}

}  // namespace
}  // namespace hlod
