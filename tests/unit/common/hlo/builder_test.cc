// The module builder: scalars broadcast, errors persist, and its modules verify.
#include "common/hlo/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/errors/error.h"
#include "common/base/text/strings.h"
#include "common/hlo/inference/verifier.h"

namespace hlod::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Message(const absl::Status& status) { return std::string(FromAbsl(status.message())); }

TEST(Builder, BroadcastsScalarsInBinaryOperations) {
  Module module("m");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(kF32, {2, 3})), one = b.Constant(1.0f);
  EXPECT_EQ(ToString(b.shape(x + one)), "f32[2,3]");
  EXPECT_EQ(ToString(b.shape(one / x)), "f32[2,3]");
  EXPECT_EQ(ToString(b.shape(b.Compare(x, one, ComparisonDirection::kLt))), "pred[2,3]");
  const Op pred = b.Compare(one, one, ComparisonDirection::kEq);
  EXPECT_EQ(ToString(b.shape(b.Select(pred, x, one))), "f32[2,3]");
  EXPECT_EQ(ToString(b.shape(one + one)), "f32[]");
  ASSERT_TRUE(b.Build(x).ok());
  EXPECT_TRUE(Verify(module).ok());
}

TEST(Builder, BroadcastsToBoundedDimensionsToo) {
  Module module("m");
  Builder b(module, "main");
  Shape bounded = Shape::Array(kF32, {8});
  bounded.dynamic = {true};
  const Op y = b.Parameter(0, bounded) * b.Constant(2.0f);
  ASSERT_TRUE(b.Build(y).ok()) << b.status();
  EXPECT_EQ(ToString(b.shape(y)), "f32[<=8]");
  EXPECT_TRUE(Verify(module).ok()) << Verify(module);
}

TEST(Builder, KeepsTheFirstErrorAndNamesTheInstruction) {
  Module module("m");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(kF32, {2})), y = b.Parameter(1, Shape::Array(kF32, {3}));
  const Op sum = x + y;
  const Op later = b.Transpose(sum, {7, 7});
  EXPECT_EQ(b.shape(later).type, kInvalid);
  const absl::Status status = b.Build(later);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status),
              HasSubstr("Operand 1 shape (f32[3]) of add differs from operand 0 shape (f32[2])."));
  EXPECT_THAT(Message(status), HasSubstr("adding instruction 2 (add) to computation (main)"));
}

TEST(Builder, AModuleIsBuiltWhenEveryComputationIs) {
  Module module("m");
  EXPECT_THAT(Message(CheckBuilt(module)), HasSubstr("Module m has no computation."));
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(kF32, {2})), y = b.Parameter(1, Shape::Array(kF32, {3}));
  EXPECT_EQ(KindOf(CheckBuilt(module)), ErrorKind::kInvalidProgram);
  EXPECT_THAT(Message(CheckBuilt(module)), HasSubstr("Computation main is not finished"));
  ASSERT_TRUE(b.Build(x).ok());
  EXPECT_TRUE(CheckBuilt(module).ok()) << CheckBuilt(module);
  Builder c(module, "other");
  const Op z = c.Parameter(0, Shape::Array(kF32, {2}));
  const absl::Status failed = c.Build(z + c.Parameter(1, Shape::Array(kF32, {3})));
  EXPECT_EQ(KindOf(failed), ErrorKind::kInvalidProgram);
  EXPECT_EQ(KindOf(CheckBuilt(module)), ErrorKind::kInvalidProgram);
  EXPECT_THAT(Message(CheckBuilt(module)), HasSubstr(Message(failed)));
  static_cast<void>(y);
}

TEST(Builder, RefusesValuesOfAnotherBuilder) {
  Module module("m");
  Builder a(module, "a");
  const Op x = a.Parameter(0, Shape::Scalar(kF32));
  Builder b(module, "b");
  b.Unary(kNegate, x);
  EXPECT_THAT(Message(b.status()), HasSubstr("not a value of computation (b)"));
  Builder c(module, "c");
  EXPECT_FALSE(c.Build(Op{&c, 3}).ok());
}

TEST(Builder, RefusesToCallWhatIsNotFinished) {
  Module module("m");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(kF32, {2}));
  const ComputationId late = AddScalarReducer(module, kAdd, kF32);
  b.Reduce(x, b.Constant(0.0f), {0}, late);
  EXPECT_THAT(Message(b.status()), HasSubstr("not finished before its caller"));
}

TEST(Builder, TheLastBuiltComputationIsTheEntry) {
  Module module("m");
  AddScalarReducer(module, kAdd, kF32);
  Builder b(module, "main");
  ASSERT_TRUE(b.Build(b.Parameter(0, Shape::Scalar(kF32))).ok());
  EXPECT_EQ(module.entry().name(), "main");
}

TEST(Builder, BuildsALoop) {
  Module module("m");
  const Shape state = Shape::Tuple({Shape::Scalar(kS32), Shape::Array(kF32, {4})});
  Builder condition(module, "condition");
  const Op in = condition.Parameter(0, state);
  ASSERT_TRUE(condition
                  .Build(condition.Compare(condition.GetTupleElement(in, 0),
                                           condition.Constant(Literal::Scalar<int32_t>(10)),
                                           ComparisonDirection::kLt))
                  .ok());
  Builder body(module, "body");
  const Op turn = body.Parameter(0, state);
  const Op next = body.GetTupleElement(turn, 0) + body.Constant(Literal::Scalar<int32_t>(1));
  ASSERT_TRUE(body.Build(body.Tuple({next, body.GetTupleElement(turn, 1) * body.Constant(2.0f)})).ok());
  Builder b(module, "main");
  const Op loop = b.While(b.Parameter(0, state), condition.id(), body.id());
  ASSERT_TRUE(b.Build(loop).ok()) << b.status();
  EXPECT_THAT(module.entry().root().called(), ElementsAre(body.id(), condition.id()));
  EXPECT_TRUE(Verify(module).ok()) << Verify(module);
}

TEST(Builder, EveryHelperBuildsWhatVerifies) {
  Module module("m");
  const ComputationId add = AddScalarReducer(module, kAdd, kF32);
  Builder f(module, "double");
  ASSERT_TRUE(f.Build(f.Parameter(0, Shape::Array(kF32, {4, 8})) * f.Constant(2.0f)).ok());
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(kF32, {4, 8}), "x"), zero = b.Constant(0.0f);
  const Op i = b.Constant(Literal::Scalar<int32_t>(1)), yes = b.Constant(Literal::Scalar(true));
  std::vector<Op> all = {
      b.Iota(Shape::Array(kS32, {3}), 0),
      b.Unary(kTanh, x),
      b.Clamp(zero, x, b.Constant(6.0f)),
      b.Convert(x, kBF16),
      b.Broadcast(zero, {2, 2}, {}),
      b.Reshape(x, {32}),
      b.Transpose(x, {1, 0}),
      b.Slice(x, {0, 2}, {4, 8}),
      b.Slice(x, {0, 2}, {4, 8}, {2, 3}),
      b.DynamicSlice(x, {i, i}, {1, 2}),
      b.DynamicUpdateSlice(x, b.Slice(x, {0, 0}, {1, 1}), {i, i}),
      b.Pad(x, zero, {{1, 1, 0}, {0, 0, 2}}),
      b.Concatenate({x, x}, 1),
      b.MatMul(x, b.Transpose(x, {1, 0})),
      b.Reduce(x, zero, {0, 1}, add),
      b.ReduceWindow(x, zero, {{2, 2, 0, 0, 1, 1}, {2, 2, 0, 0, 1, 1}}, add),
      b.Call({x}, f.id()),
      b.Conditional(yes, {x, x}, {f.id(), f.id()}),
  };
  ASSERT_TRUE(b.Build(b.Tuple(all)).ok()) << b.status();
  EXPECT_TRUE(Verify(module).ok()) << Verify(module);
}

TEST(Builder, RemembersInferencesWithoutMixingThemUp) {
  Module module("m");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(kF32, {4, 8})), y = b.Parameter(1, Shape::Array(kF32, {8, 4}));
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(ToString(b.shape(b.Transpose(x, {1, 0}))), "f32[8,4]");
    EXPECT_EQ(ToString(b.shape(b.Transpose(x, {0, 1}))), "f32[4,8]");
    EXPECT_EQ(ToString(b.shape(b.Convert(x, kS8))), "s8[4,8]");
    EXPECT_EQ(ToString(b.shape(b.Convert(x, kF16))), "f16[4,8]");
    EXPECT_EQ(ToString(b.shape(b.MatMul(x, y))), "f32[4,4]");
    EXPECT_EQ(ToString(b.shape(b.MatMul(y, x))), "f32[8,8]");
  }
  EXPECT_TRUE(b.status().ok());
}

}  // namespace
}  // namespace hlod::hlo
