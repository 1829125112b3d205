// Shape rules of elementwise opcodes, data sources and tuples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/common/hlo/inference/test_util.h"

namespace hlod::hlo {
namespace {

using ::testing::HasSubstr;

TEST(InferElementwise, KeepsTheShapeAndDropsLayouts) {
  EXPECT_EQ(Infer(kAdd, {"f32[2,3]{0,1}", "f32[2,3]{1,0}"}), "f32[2,3]");
  EXPECT_EQ(Infer(kTanh, {"bf16[4]"}, AccuracyAttributes{}), "bf16[4]");
  EXPECT_EQ(Infer(kNegate, {"u8[]"}), "u8[]");
}

TEST(InferElementwise, ChangesTheTypeWhereTheOpcodeDoes) {
  EXPECT_EQ(Infer(kAbs, {"c64[2]"}), "f32[2]");
  EXPECT_EQ(Infer(kAbs, {"s32[2]"}), "s32[2]");
  EXPECT_EQ(Infer(kReal, {"c128[2]"}), "f64[2]");
  EXPECT_EQ(Infer(kImag, {"f32[2]"}), "f32[2]");
  EXPECT_EQ(Infer(kIsFinite, {"f16[2]"}), "pred[2]");
  EXPECT_EQ(Infer(kComplex, {"f32[2]", "f32[2]"}), "c64[2]");
  EXPECT_EQ(Infer(kConvert, {"f32[2]"}, NoAttributes{}, {"s4[2]"}), "s4[2]");
  EXPECT_EQ(Infer(kCompare, {"f32[2]", "f32[2]"}, CompareAttributes{}), "pred[2]");
  EXPECT_EQ(Infer(kStochasticConvert, {"f32[2]", "u32[2]"}, NoAttributes{}, {"s8[2]"}), "s8[2]");
}

TEST(InferElementwise, NamesOperandsThatDiffer) {
  EXPECT_EQ(Infer(kAdd, {"f32[4]", "f32[8]"}),
            "Operand 1 shape (f32[8]) of add differs from operand 0 shape (f32[4]).");
  EXPECT_EQ(Infer(kAdd, {"f32[4]", "bf16[4]"}),
            "Operand 1 shape (bf16[4]) of add differs in element type from operand 0 shape (f32[4]).");
  EXPECT_THAT(Infer(kMultiply, {"f32[4]", "f32[]"}), HasSubstr("differs"));
  EXPECT_THAT(Infer(kAdd, {"(f32[4])", "f32[4]"}), HasSubstr("is not an array"));
}

TEST(InferElementwise, RefusesTypesAnOpcodeDoesNotTake) {
  EXPECT_THAT(Infer(kTanh, {"s32[4]"}, AccuracyAttributes{}), HasSubstr("tanh does not take"));
  EXPECT_THAT(Infer(kNot, {"f32[4]"}), HasSubstr("not does not take"));
  EXPECT_THAT(Infer(kShiftLeft, {"f32[4]", "f32[4]"}), HasSubstr("shift-left does not take"));
  EXPECT_THAT(Infer(kSubtract, {"pred[4]", "pred[4]"}), HasSubstr("subtract does not take"));
  EXPECT_THAT(Infer(kRemainder, {"c64[4]", "c64[4]"}), HasSubstr("remainder does not take"));
  EXPECT_THAT(Infer(kComplex, {"bf16[4]", "bf16[4]"}), HasSubstr("without a complex one"));
  EXPECT_THAT(Infer(kPopcnt, {"pred[]"}), HasSubstr("does not take"));
}

TEST(InferElementwise, RefusesWrongArityAndAttributes) {
  EXPECT_EQ(Infer(kAdd, {"f32[4]"}), "The number of operands (1) of add differs from (2).");
  EXPECT_EQ(Infer(kAbs, {}), "The number of operands (0) of abs differs from (1).");
  EXPECT_THAT(Infer(kAdd, {"f32[4]", "f32[4]"}, SortAttributes{}), HasSubstr("another opcode"));
  EXPECT_THAT(Infer(kReduce, {"f32[4]", "f32[]"}, DimensionsAttributes{{0}}),
              HasSubstr("computations (0) called by reduce"));
}

TEST(InferElementwise, DynamicDimensionsSpread) {
  EXPECT_EQ(Infer(kAdd, {"f32[<=8,2]", "f32[8,2]"}), "f32[<=8,2]");
  EXPECT_EQ(Infer(kAdd, {"f32[8,2]", "f32[<=8,2]"}), "f32[<=8,2]");
  EXPECT_EQ(Infer(kAdd, {"f32[?,2]", "f32[8,2]"}), "f32[8,2]");
  EXPECT_EQ(Infer(kAdd, {"f32[?]", "f32[<=8]"}), "f32[<=8]");
  EXPECT_EQ(Infer(kAdd, {"f32[?]", "f32[?]"}), "f32[?]");
  EXPECT_EQ(Infer(kExponential, {"f32[<=8]"}, AccuracyAttributes{}), "f32[<=8]");
  EXPECT_THAT(Infer(kAdd, {"f32[<=8]", "f32[4]"}), HasSubstr("differs"));
}

TEST(InferCompare, TypeMustSuitTheOperands) {
  const auto compare = [](std::string_view shape, ComparisonDirection direction, ComparisonType type) {
    return Infer(kCompare, {shape, shape}, CompareAttributes{direction, type});
  };
  EXPECT_EQ(compare("f32[]", ComparisonDirection::kLt, ComparisonType::kTotalOrder), "pred[]");
  EXPECT_EQ(compare("s32[]", ComparisonDirection::kLt, ComparisonType::kSigned), "pred[]");
  EXPECT_EQ(compare("pred[]", ComparisonDirection::kEq, ComparisonType::kUnsigned), "pred[]");
  EXPECT_EQ(compare("c64[]", ComparisonDirection::kNe, ComparisonType::kFloat), "pred[]");
  EXPECT_THAT(compare("c64[]", ComparisonDirection::kLt, ComparisonType::kFloat),
              HasSubstr("asks for an order"));
  EXPECT_THAT(compare("s32[]", ComparisonDirection::kLt, ComparisonType::kUnsigned),
              HasSubstr("does not suit"));
  EXPECT_THAT(compare("s32[]", ComparisonDirection::kLt, ComparisonType::kTotalOrder),
              HasSubstr("does not suit"));
}

TEST(InferSelect, TakesAScalarPredicate) {
  EXPECT_EQ(Infer(kSelect, {"pred[]", "f32[4]", "f32[4]"}), "f32[4]");
  EXPECT_EQ(Infer(kSelect, {"pred[4]", "f32[4]", "f32[4]"}), "f32[4]");
  EXPECT_THAT(Infer(kSelect, {"pred[3]", "f32[4]", "f32[4]"}), HasSubstr("neither a scalar"));
  EXPECT_THAT(Infer(kSelect, {"s32[4]", "f32[4]", "f32[4]"}), HasSubstr("does not take"));
  EXPECT_THAT(Infer(kSelect, {"pred[]", "f32[4]", "f32[]"}), HasSubstr("Operand 2 shape (f32[])"));
  EXPECT_THAT(Infer(kSelect, {"pred[]", "f32[4]", "f64[4]"}), HasSubstr("Operand 2 shape (f64[4])"));
  EXPECT_THAT(Infer(kSelect, {"pred[]", "(f32[4])", "(f32[4])"}), HasSubstr("not an array"));
}

TEST(InferClamp, TakesScalarBounds) {
  EXPECT_EQ(Infer(kClamp, {"f32[]", "f32[4]", "f32[]"}), "f32[4]");
  EXPECT_EQ(Infer(kClamp, {"f32[4]", "f32[4]", "f32[]"}), "f32[4]");
  EXPECT_THAT(Infer(kClamp, {"f32[2]", "f32[4]", "f32[]"}), HasSubstr("Operand 0 shape (f32[2]) of clamp"));
  EXPECT_THAT(Infer(kClamp, {"f32[]", "f32[4]", "s32[]"}), HasSubstr("Operand 2 shape (s32[]) of clamp"));
}

TEST(InferReducePrecision, WantsAnExponent) {
  EXPECT_EQ(Infer(kReducePrecision, {"f32[4]"}, ReducePrecisionAttributes{8, 0}), "f32[4]");
  EXPECT_THAT(Infer(kReducePrecision, {"f32[4]"}, ReducePrecisionAttributes{0, 7}),
              HasSubstr("form no number"));
  EXPECT_THAT(Infer(kReducePrecision, {"f32[4]"}, ReducePrecisionAttributes{8, -1}),
              HasSubstr("form no number"));
}

TEST(InferData, SourcesSayTheirShape) {
  EXPECT_EQ(Infer(kIota, {}, DimensionsAttributes{{1}}, {"s32[2,3]"}), "s32[2,3]");
  EXPECT_THAT(Infer(kIota, {}, DimensionsAttributes{{2}}, {"s32[2,3]"}), HasSubstr("lies outside [0, 2)"));
  EXPECT_THAT(Infer(kIota, {}, DimensionsAttributes{{0}}, {"s32[]"}), HasSubstr("lies outside [0, 0)"));
  EXPECT_THAT(Infer(kIota, {}, DimensionsAttributes{{0}}), HasSubstr("is not stated"));
  EXPECT_EQ(Infer(kParameter, {}, ParameterAttributes{3}, {"(f32[2]{0}, token[])"}), "(f32[2], token[])");
  EXPECT_THAT(Infer(kParameter, {}, ParameterAttributes{-1}, {"f32[]"}), HasSubstr("negative"));
  EXPECT_EQ(Infer(kPartitionId, {}), "u32[]");
  EXPECT_THAT(Infer(kParameter, {}, ParameterAttributes{0}), HasSubstr("is not stated"));
}

TEST(InferData, TuplesAndElements) {
  EXPECT_EQ(Infer(kTuple, {"f32[2]{0}", "(s32[])"}), "(f32[2], (s32[]))");
  EXPECT_EQ(Infer(kTuple, {}), "()");
  EXPECT_EQ(Infer(kGetTupleElement, {"(f32[2], s32[])"}, TupleIndexAttributes{1}), "s32[]");
  EXPECT_THAT(Infer(kGetTupleElement, {"(f32[2], s32[])"}, TupleIndexAttributes{2}),
              HasSubstr("(2) of get-tuple-element"));
  EXPECT_THAT(Infer(kGetTupleElement, {"(f32[2])"}, TupleIndexAttributes{-1}), HasSubstr("lies outside"));
  EXPECT_THAT(Infer(kGetTupleElement, {"f32[2]"}, TupleIndexAttributes{0}), HasSubstr("not a tuple"));
  EXPECT_EQ(Infer(kOptBarrier, {"(f32[2]{0})"}), "(f32[2])");
  EXPECT_EQ(Infer(kAfterAll, {"token[]", "token[]"}), "token[]");
  EXPECT_EQ(Infer(kAfterAll, {"f32[]", "token[]", "(s32[], pred[2])"}), "token[]");
}

TEST(InferData, ATupleThatDoublesIsStoppedBeforeItIsBuilt) {
  Shape shape = Shape::Scalar(kF32);
  absl::Status status;
  int levels = 0;
  const Attributes none = NoAttributes{};
  for (; levels < 62; ++levels) {
    const Shape* operands[] = {&shape, &shape};
    absl::StatusOr<Shape> doubled = InferShape({kTuple, none, operands, {}, nullptr});
    if (!doubled.ok()) {
      status = doubled.status();
      break;
    }
    shape = *std::move(doubled);
  }
  EXPECT_EQ(levels, 19);
  EXPECT_THAT(std::string(FromAbsl(status.message())), HasSubstr("more shapes than the limit"));
}

TEST(InferData, DimensionSizes) {
  EXPECT_EQ(Infer(kGetDimensionSize, {"f32[2,3]"}, DimensionsAttributes{{1}}), "s32[]");
  EXPECT_THAT(Infer(kGetDimensionSize, {"f32[2,3]"}, DimensionsAttributes{{0, 1}}),
              HasSubstr("(2) that get-dimension-size names"));
  EXPECT_EQ(Infer(kSetDimensionSize, {"f32[2,3]", "s32[]"}, DimensionsAttributes{{1}}), "f32[2,<=3]");
  EXPECT_THAT(Infer(kSetDimensionSize, {"f32[2,3]", "s64[]"}, DimensionsAttributes{{1}}),
              HasSubstr("not a scalar (s32[])"));
}

TEST(InferShape, AnOpcodeWithoutARuleIsUnimplementedByName) {
  const absl::StatusOr<Shape> shape = InferStatus(kShuffle, {"f32[4]"});
  EXPECT_EQ(shape.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(FromAbsl(shape.status().message())), HasSubstr("(shuffle)"));
}

}  // namespace
}  // namespace hlod::hlo
