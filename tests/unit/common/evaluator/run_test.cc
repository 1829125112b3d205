// Runs of modules: control flow, limits, cancellation, refusals, and that the caller's values are never
// written to.
#include <atomic>

#include "absl/time/clock.h"
#include "tests/unit/common/evaluator/evaluate_one.h"

namespace hlod {
namespace {

// A computation with one parameter that applies `f`; returns its id.
template <typename F>
ComputationId Function(Module& module, const Shape& parameter, F f) {
  Builder b(module, "f" + std::to_string(module.computation_count()));
  const Op result = f(b, b.Parameter(0, parameter));
  EXPECT_TRUE(b.Build(result).ok()) << b.status();
  return b.id();
}

// while (true), with an s32 state that the body keeps.
void BuildEndlessLoop(Module& module) {
  const Shape s = Shape::Scalar(kS32);
  const ComputationId forever =
      Function(module, s, [](Builder& b, Op) { return b.Constant(Literal::Scalar(true)); });
  const ComputationId same = Function(module, s, [](Builder&, Op x) { return x; });
  Builder b(module, "main");
  ASSERT_TRUE(b.Build(b.While(b.Parameter(0, s), forever, same)).ok());
}

TEST(Evaluate, EndlessLoopEndsAtTheDeadline) {
  Module module("endless");
  BuildEndlessLoop(module);
  const Literal zero = Literal::Scalar<int32_t>(0);
  const auto result = Evaluate(module, {&zero}, {.deadline = absl::Now() + absl::Milliseconds(20)});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(Evaluate, CancelEndsARun) {
  Module module("endless");
  BuildEndlessLoop(module);
  const Literal zero = Literal::Scalar<int32_t>(0);
  const std::atomic<bool> cancel = true;
  EXPECT_EQ(Evaluate(module, {&zero}, {.cancel = &cancel}).status().code(), absl::StatusCode::kCancelled);
}

TEST(Evaluate, CancelIsSeenInsideOneLongInstruction) {
  // 2^45 multiplications.
  const std::atomic<bool> cancel = true;
  const Literal a(Shape::Array(kS8, {32768, 8})), b(Shape::Array(kS8, {8, 8}));
  const auto result = EvaluateOne(
      {.opcode = kDot, .attributes = DotAttributes{.lhs_contracting = {1}, .rhs_contracting = {0}}}, {a, b},
      {.cancel = &cancel});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
}

TEST(Evaluate, LoopCountsAndUpdatesInPlaceWithoutTouchingTheArgument) {
  Module module("squares");
  const Shape state = Shape::Tuple({Shape::Scalar(kS32), Shape::Array(kS32, {5})});
  const ComputationId condition = Function(module, state, [](Builder& b, Op x) {
    return b.Compare(b.GetTupleElement(x, 0), b.Constant(Literal::Scalar<int32_t>(5)),
                     ComparisonDirection::kLt);
  });
  const ComputationId body = Function(module, state, [](Builder& b, Op x) {
    const Op i = b.GetTupleElement(x, 0), squares = b.GetTupleElement(x, 1);
    const Op next = b.DynamicUpdateSlice(squares, b.Reshape(i * i, {1}), {i});
    return b.Tuple({i + b.Constant(Literal::Scalar<int32_t>(1)), next});
  });
  Builder b(module, "main");
  const Op init = b.Tuple({b.Constant(Literal::Scalar<int32_t>(0)), b.Parameter(0, state.tuple[1])});
  ASSERT_TRUE(b.Build(b.While(init, condition, body)).ok()) << b.status();
  const Literal zeros(state.tuple[1]);
  for (int run = 0; run < 2; ++run) {
    const auto result = Evaluate(module, {&zeros});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_THAT(Numbers(result->elements()[1]), ElementsAre(0, 1, 4, 9, 16));
  }
  EXPECT_THAT(Numbers(zeros), ElementsAre(0, 0, 0, 0, 0));
}

TEST(Evaluate, ConditionalOutOfRangeTakesTheLastBranch) {
  Module module("branches");
  const Shape s = Shape::Scalar(kS32);
  std::vector<ComputationId> branches;
  for (int32_t k : {10, 20, 30}) {
    branches.push_back(
        Function(module, s, [k](Builder& b, Op x) { return x + b.Constant(Literal::Scalar<int32_t>(k)); }));
  }
  Builder b(module, "main");
  const Op x = b.Parameter(1, s);
  ASSERT_TRUE(b.Build(b.Conditional(b.Parameter(0, s), {x, x, x}, branches)).ok()) << b.status();
  const auto run = [&](int32_t selector) {
    const Literal index = Literal::Scalar(selector), one = Literal::Scalar<int32_t>(1);
    return Result(Evaluate(module, {&index, &one})).data<int32_t>()[0];
  };
  EXPECT_EQ(run(0), 11);
  EXPECT_EQ(run(1), 21);
  EXPECT_EQ(run(2), 31);
  EXPECT_EQ(run(3), 31);
  EXPECT_EQ(run(-1), 31);
}

TEST(Evaluate, TrueTakesTheFirstBranch) {
  Module module("branches");
  const Shape s = Shape::Scalar(kF32);
  const ComputationId yes = Function(module, s, [](Builder& b, Op x) { return x + b.Constant(1.0f); });
  const ComputationId no = Function(module, s, [](Builder& b, Op x) { return x + b.Constant(2.0f); });
  Builder b(module, "main");
  const Op p = b.Parameter(0, Shape::Scalar(kPred)), x = b.Parameter(1, s);
  ASSERT_TRUE(b.Build(b.Conditional(p, {x, x}, {yes, no})).ok()) << b.status();
  const Literal t = Literal::Scalar(true), f = Literal::Scalar(false), zero = Literal::Scalar(0.0f);
  EXPECT_EQ(Result(Evaluate(module, {&t, &zero})), Literal::Scalar(1.0f));
  EXPECT_EQ(Result(Evaluate(module, {&f, &zero})), Literal::Scalar(2.0f));
}

TEST(Evaluate, ArgumentsMustFit) {
  Module module("add");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(kF32, {2}));
  ASSERT_TRUE(b.Build(x + x).ok());
  const Literal wrong = Literal::Vector<float>({1, 2, 3}), right = Literal::Vector<float>({1, 2});
  const auto none = Evaluate(module, {}), three = Evaluate(module, {&wrong});
  EXPECT_EQ(none.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(three.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(three.status().message()), HasSubstr("f32[3]"));
  EXPECT_THAT(Numbers(Result(Evaluate(module, {&right}))), ElementsAre(2, 4));
}

TEST(Evaluate, ValuesAreLimitedInSize) {
  const auto big = EvaluateOne(
      {.opcode = kBroadcast, .attributes = DimensionsAttributes{}, .declared = Shape::Array(kF32, {1 << 20})},
      {Literal::Scalar(0.0f)}, {.bytes_max = 1 << 20});
  EXPECT_EQ(big.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(Evaluate, RefusalNamesWhatIsUnknown) {
  const CustomCallAttributes call{.target = "my.fn"};
  const auto result = EvaluateOne(
      {.opcode = kCustomCall, .attributes = call, .declared = Shape::Scalar(kF32)}, {Literal::Scalar(0.0f)});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("my.fn"));
}

TEST(Evaluate, HintsAreIdentities) {
  const Literal x = Literal::Vector<float>({1, 2});
  for (const char* target :
       {"Sharding", "SPMDFullToShardShape", "annotate_device_placement", "xla.sdy.FuncResultSharding"}) {
    const CustomCallAttributes call{.target = target};
    EXPECT_EQ(Result(EvaluateOne({.opcode = kCustomCall, .attributes = call, .declared = x.shape()}, {x})),
              x);
  }
}

TEST(Evaluate, HintThatChangesTheShapeIsRefused) {
  const CustomCallAttributes call{.target = "Sharding"};
  const auto result =
      EvaluateOne({.opcode = kCustomCall, .attributes = call, .declared = Shape::Array(kF32, {3})},
                  {Literal::Vector<float>({1, 2})});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Evaluate, WhatTheRootDoesNotNeedIsNotRun) {
  Module module("dead");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Scalar(kF32));
  const Shape s = Shape::Scalar(kF32);
  b.Add(kCustomCall, {x}, CustomCallAttributes{.target = "unknown"}, {}, &s);
  ASSERT_TRUE(b.Build(x + x).ok());
  const Literal one = Literal::Scalar(1.0f);
  EXPECT_EQ(Result(Evaluate(module, {&one})), Literal::Scalar(2.0f));
}

TEST(Evaluate, LongChainKeepsOnlyLiveValues) {
  // 100,000 values of 40 KB would take 4 GB if all were kept.
  Module module("chain");
  Builder b(module, "main");
  Op x = b.Parameter(0, Shape::Array(kF32, {100}));
  for (int i = 0; i < 100000; ++i) x = b.Unary(kNegate, x);
  ASSERT_TRUE(b.Build(x).ok());
  Literal ones(Shape::Array(kF32, {100}));
  for (float& value : ones.data<float>()) value = 1;
  EXPECT_EQ(Result(Evaluate(module, {&ones})), ones);
}

TEST(Evaluate, CallsThatDoubleAtEachLevelObeyTheDeadline) {
  // f_k calls f_(k-1) twice: 2^60 additions.
  Module module("doubling");
  const Shape s = Shape::Scalar(kF32);
  ComputationId f = Function(module, s, [](Builder&, Op x) { return x + x; });
  for (int level = 0; level < 60; ++level) {
    f = Function(module, s, [f](Builder& b, Op x) { return b.Call({b.Call({x}, f)}, f); });
  }
  const Literal one = Literal::Scalar(1.0f);
  const auto result = Evaluate(module, {&one}, {.deadline = absl::Now() + absl::Milliseconds(20)});
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(EvaluateInstruction, RunsOneWithGivenOperandsAndChecksThem) {
  Module module("one");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(kF32, {2})), sum = x + x;
  ASSERT_TRUE(b.Build(sum).ok());
  const Instruction add = module.entry()[sum.id];
  const Literal a = Literal::Vector<float>({1, 2}), c = Literal::Vector<float>({10, 20}),
                wrong = Literal::Scalar(1.0f);
  EXPECT_TRUE(CanEvaluate(add));
  EXPECT_THAT(Numbers(Result(EvaluateInstruction(module, add, {&a, &c}))), ElementsAre(11, 22));
  EXPECT_EQ(EvaluateInstruction(module, add, {&a, &wrong}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(EvaluateInstruction(module, add, {&a}).status().code(), absl::StatusCode::kInvalidArgument);
}

// The shape of a dynamic instruction does not determine its size, so the instruction is neither folded nor
// planned as a step of an engine.
TEST(Evaluate, WhetherADynamicInstructionRunsIsNotSaidWithoutItsOperands) {
  Module module("dynamic");
  Builder b(module, "main");
  Shape shape = Shape::Array(kF32, {8});
  shape.dynamic = {true};
  const Op x = b.Parameter(0, shape);
  ASSERT_TRUE(b.Build(b.Unary(kNegate, x)).ok()) << b.status();
  EXPECT_FALSE(CanEvaluate(module.entry().root()));
}

TEST(Evaluate, ADimensionWithoutABoundIsRefusedByName) {
  Module module("unbounded");
  Builder b(module, "main");
  Shape shape = Shape::Array(kF32, {kUnboundedSize});
  shape.dynamic = {true};
  ASSERT_TRUE(b.Build(b.Unary(kNegate, b.Parameter(0, shape))).ok()) << b.status();
  const Literal argument(Shape::Array(kF32, {8}));
  EXPECT_THAT(std::string(Evaluate(module, {&argument}).status().message()), HasSubstr("f32[?]"));
}

}  // namespace
}  // namespace hlod
