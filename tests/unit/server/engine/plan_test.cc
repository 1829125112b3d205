// Plans of small modules, compared with the evaluator: all ways in which a value can become a result, and
// every kind of control flow.
#include "server/engine/plan/plan.h"

#include <map>
#include <string>

#include "common/base/errors/status.h"
#include "common/hlo/builder.h"
#include "common/hlo/text/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/engine/plan/run_profile.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

using hlo::Builder;
using hlo::ComputationId;
using hlo::Literal;
using hlo::Module;
using hlo::Op;
using hlo::Shape;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Shape kVector = Shape::Array(hlo::kF32, {1000});
const Shape kLong = Shape::Array(hlo::kF32, {100'000});
const Shape kCounter = Shape::Scalar(hlo::kS32);

void Finish(Builder& builder, Op root) {
  const absl::Status status = builder.Build(root);
  ASSERT_TRUE(status.ok()) << status;
}

Op S32(Builder& b, int32_t value) { return b.Constant(Literal::Scalar<int32_t>(value)); }

// Adds a condition (state...) -> element `index` < `limit`; the element is an s32.
ComputationId Below(Module& module, const Shape& state, int64_t index, int32_t limit) {
  Builder b(module, "below");
  const Op s = b.Parameter(0, state);
  Finish(b, b.Compare(b.GetTupleElement(s, index), S32(b, limit), hlo::ComparisonDirection::kLt));
  return b.id();
}

TEST(Plan, AddsTwoParameters) {
  Module module("add");
  Builder b(module, "main");
  Finish(b, b.Parameter(0, kLong) + b.Parameter(1, kLong));
  const auto plan = ExpectAgreesWithEvaluator(module);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->memory().argument_bytes, 800'000);
  EXPECT_EQ(plan->memory().output_bytes, 400'000);
  EXPECT_EQ(plan->stats().steps, 1);
  EXPECT_EQ(plan->stats().reference_steps, 0);
  EXPECT_LT(plan->memory().temporary_bytes, 200'000);
}

TEST(Plan, ParametersConstantsAndRepeatsMayBeReturned) {
  Module module("returns");
  Builder b(module, "main");
  const Op x = b.Parameter(0, kVector), y = b.Parameter(1, kVector);
  const Op sum = x + y;
  const Op c = b.Constant(Literal::Vector<float>({1, 2, 3}));
  Finish(b, b.Tuple({x, sum, sum, c, c, x, b.Reshape(sum, {10, 100})}));
  ASSERT_NE(ExpectAgreesWithEvaluator(module), nullptr);
}

TEST(Plan, ReshapesAndTuplesTakeNoStep) {
  Module module("reshape");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Tuple({kVector, Shape::Tuple({kCounter, kVector})}));
  const Op inner = b.GetTupleElement(x, 1);
  Finish(b, b.Tuple({b.Reshape(b.GetTupleElement(inner, 1), {10, 10, 10}), b.Tuple({inner, x})}));
  const auto plan = ExpectAgreesWithEvaluator(module);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->stats().steps, 0);
  EXPECT_EQ(plan->results().size(), 6u);
}

void Alias(Module& module, int64_t output, int64_t parameter, bool tuple = true) {
  hlo::InputOutputAlias alias;
  if (tuple) alias.output_index.push_back(output);
  alias.parameter_number = parameter;
  module.config.input_output_alias.push_back(alias);
}

TEST(Plan, AnAliasedResultIsComputedInPlace) {
  Module module("update");
  Builder b(module, "main");
  Finish(b, b.Parameter(0, kLong) + b.Parameter(1, kLong));
  Alias(module, 0, 0, /*tuple=*/false);
  const auto plan = ExpectAgreesWithEvaluator(module);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->aliases()[0], 0);
  EXPECT_EQ(plan->memory().alias_bytes, 400'000);
  EXPECT_EQ(plan->memory().output_bytes, 0);
  EXPECT_LT(plan->memory().temporary_bytes, 200'000) << plan->Dump();
}

TEST(Plan, AnAliasedResultWaitsForTheLastReadOfItsParameter) {
  Module module("hazard");
  Builder b(module, "main");
  const Op x = b.Parameter(0, Shape::Array(hlo::kF32, {16, 16}));
  const Op y = b.Parameter(1, Shape::Array(hlo::kF32, {16, 16}));
  // out0 = x + y is ready first, but out1 still reads x, transposed.
  const Op sum = x + y;
  Finish(b, b.Tuple({sum, b.Transpose(x, {1, 0}) + sum, b.MatMul(x, sum)}));
  Alias(module, 0, 0);
  ASSERT_NE(ExpectAgreesWithEvaluator(module, 1e-4, 1e-3), nullptr);
}

TEST(Plan, AliasedParametersMayTradePlaces) {
  Module module("swap");
  Builder b(module, "main");
  const Op x = b.Parameter(0, kVector), y = b.Parameter(1, kVector), z = b.Parameter(2, kVector);
  Finish(b, b.Tuple({y, z, x, x + y}));
  for (int i = 0; i < 3; ++i) Alias(module, i, i);
  ASSERT_NE(ExpectAgreesWithEvaluator(module), nullptr);
}

TEST(Plan, AnAliasedParameterMayBeReturnedElsewhereToo) {
  Module module("both");
  Builder b(module, "main");
  const Op x = b.Parameter(0, kVector), y = b.Parameter(1, kVector);
  Finish(b, b.Tuple({x * y, x, x}));
  Alias(module, 0, 0);
  Alias(module, 2, 1);
  ASSERT_NE(ExpectAgreesWithEvaluator(module), nullptr);
}

TEST(Plan, ADonorServesAResultOfItsShape) {
  Module module("donor");
  Builder b(module, "main");
  Finish(b, b.Tuple({b.Parameter(0, kCounter), b.Parameter(1, kVector) + b.Parameter(2, kVector)}));
  module.config.buffer_donors.push_back({.parameter_number = 2});
  const auto plan = ExpectAgreesWithEvaluator(module);
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->aliases()[0], -1);
  EXPECT_EQ(plan->aliases()[1], 2);
}

// The body is (i, a, b, keep) -> (i + 1, b, a + b, keep): no variable may be overwritten before it is read.
TEST(Plan, ALoopTradesItsVariables) {
  Module module("fibonacci");
  const Shape state = Shape::Tuple({kCounter, kVector, kVector, kVector});
  Builder body(module, "body");
  const Op s = body.Parameter(0, state);
  const Op i = body.GetTupleElement(s, 0), x = body.GetTupleElement(s, 1), y = body.GetTupleElement(s, 2);
  Finish(body, body.Tuple({i + S32(body, 1), y, x + y, body.GetTupleElement(s, 3)}));
  for (int turns : {0, 1, 5}) {
    const ComputationId below = Below(module, state, 0, turns);
    Builder b(module, "main");
    const Op x0 = b.Parameter(0, kVector), y0 = b.Parameter(1, kVector);
    const Op end = b.While(b.Tuple({S32(b, 0), x0, y0, x0}), below, body.id());
    Finish(b, b.Tuple({end, x0 + b.GetTupleElement(end, 2)}));
    const auto plan = ExpectAgreesWithEvaluator(module);
    ASSERT_NE(plan, nullptr) << turns;
    EXPECT_GT(plan->estimate_us(), 20);
  }
}

// A scan writes row i of the stack in iteration i, in place, so temporaries do not include a second stack.
TEST(Plan, AScanWritesItsStackInPlace) {
  constexpr int64_t kRows = 640;  // Much larger than the scratch memory of many threads.
  Module module("scan");
  const Shape stack = Shape::Array(hlo::kF32, {kRows, 1000}), row = Shape::Array(hlo::kF32, {1, 1000});
  const Shape state = Shape::Tuple({kCounter, kVector, stack, stack});
  Builder body(module, "body");
  const Op s = body.Parameter(0, state);
  const Op i = body.GetTupleElement(s, 0), carry = body.GetTupleElement(s, 1),
           xs = body.GetTupleElement(s, 3);
  const Op zero = S32(body, 0);
  const Op x = body.Reshape(body.DynamicSlice(xs, {i, zero}, {1, 1000}), {1000});
  const Op next = carry * x + carry;
  const Op ys = body.DynamicUpdateSlice(body.GetTupleElement(s, 2), body.Reshape(next, {1, 1000}), {i, zero});
  Finish(body, body.Tuple({i + S32(body, 1), next - x, ys, xs}));
  const ComputationId below = Below(module, state, 0, 3);
  Builder b(module, "main");
  const Op zeros = b.Broadcast(b.Constant(0.0f), {kRows, 1000}, {});
  const Op end =
      b.While(b.Tuple({S32(b, 0), b.Parameter(0, kVector), zeros, b.Parameter(1, stack)}), below, body.id());
  Finish(b, b.Tuple({b.GetTupleElement(end, 1), b.GetTupleElement(end, 2)}));
  const auto plan = ExpectAgreesWithEvaluator(module);
  ASSERT_NE(plan, nullptr);
  EXPECT_LT(plan->memory().temporary_bytes, kRows * 1000 * 4 / 2) << plan->Dump();
}

TEST(Plan, LoopsNestAndSeeWhatIsOutside) {
  Module module("nested");
  const Shape inner_state = Shape::Tuple({kCounter, kVector, kVector});
  Builder inner_body(module, "inner_body");
  {
    const Op s = inner_body.Parameter(0, inner_state);
    const Op v = inner_body.GetTupleElement(s, 1), w = inner_body.GetTupleElement(s, 2);
    Finish(inner_body, inner_body.Tuple({inner_body.GetTupleElement(s, 0) + S32(inner_body, 1), v + w, w}));
  }
  const ComputationId inner_below = Below(module, inner_state, 0, 3);
  Builder outer_body(module, "outer_body");
  {
    const Op s = outer_body.Parameter(0, inner_state);
    const Op v = outer_body.GetTupleElement(s, 1), w = outer_body.GetTupleElement(s, 2);
    const Op inner =
        outer_body.While(outer_body.Tuple({S32(outer_body, 0), v, w + v}), inner_below, inner_body.id());
    const Op sum = outer_body.GetTupleElement(inner, 1) - v;
    Finish(outer_body, outer_body.Tuple({outer_body.GetTupleElement(s, 0) + S32(outer_body, 1), sum, v}));
  }
  const ComputationId outer_below = Below(module, inner_state, 0, 4);
  Builder b(module, "main");
  const Op x = b.Parameter(0, kVector), y = b.Parameter(1, kVector);
  Finish(b, b.While(b.Tuple({S32(b, 0), x, y}), outer_below, outer_body.id()));
  Alias(module, 1, 0);
  Alias(module, 2, 1);
  ASSERT_NE(ExpectAgreesWithEvaluator(module, 1e-4, 1e-3), nullptr);
}

TEST(Plan, ConditionalsTakeTheBranchTheySay) {
  Module module("branches");
  std::vector<ComputationId> branches;
  for (int n = 0; n < 3; ++n) {
    Builder branch(module, "branch");
    const Op x = branch.Parameter(0, kVector);
    const Op y = x * branch.Constant(static_cast<float>(n + 1));
    Finish(branch, branch.Tuple({n == 1 ? x : y, y + x, x}));
    branches.push_back(branch.id());
  }
  for (int32_t selector : {-1, 0, 1, 2, 3, 100}) {
    Builder b(module, "main");
    const Op x = b.Parameter(0, kVector);
    const Op twice = x + x;
    const Op out = b.Conditional(S32(b, selector) + b.Parameter(1, kCounter) - b.Parameter(2, kCounter),
                                 {twice, x, twice}, branches);
    Finish(b, b.Tuple({out, twice, b.GetTupleElement(out, 0)}));
    const absl::StatusOr<std::unique_ptr<Plan>> plan = Compile(module);
    ASSERT_TRUE(plan.ok()) << plan.status();
    const std::vector<Literal> arguments = {Sample(kVector, 1), Literal::Scalar<int32_t>(5),
                                            Literal::Scalar<int32_t>(5)};
    const auto actual = RunPlan(**plan, arguments), expected = RunEvaluator(module, arguments);
    ASSERT_TRUE(actual.ok()) << actual.status();
    ASSERT_TRUE(expected.ok()) << expected.status();
    for (size_t r = 0; r < actual->size(); ++r)
      EXPECT_EQ(Difference((*actual)[r], (*expected)[r], 1e-6, 0), "") << r;
  }
}

TEST(Plan, CallsAreInlined) {
  Module module("calls");
  Builder f(module, "f");
  const Op s = f.Parameter(0, Shape::Tuple({kVector, kVector}));
  Finish(f, f.Tuple({f.GetTupleElement(s, 1), f.GetTupleElement(s, 0) - f.Parameter(1, kVector)}));
  Builder b(module, "main");
  const Op x = b.Parameter(0, kVector), y = b.Parameter(1, kVector);
  const Op once = b.Call({b.Tuple({x, y}), y}, f.id());
  Finish(b, b.Call({once, x}, f.id()));
  ASSERT_NE(ExpectAgreesWithEvaluator(module), nullptr);
}

TEST(Plan, CallsThatMultiplyAreRefused) {
  Module module("doubling");
  ComputationId callee;
  {
    Builder f(module, "f");
    const Op x = f.Parameter(0, kVector);
    Finish(f, f.Unary(hlo::kSine, x));
    callee = f.id();
  }
  for (int level = 0; level < 40; ++level) {
    Builder f(module, "f");
    const Op x = f.Parameter(0, kVector);
    Finish(f, f.Call({f.Call({x}, callee)}, callee));
    callee = f.id();
  }
  const auto plan = Compile(module);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kResourceExhausted) << plan.status();
}

TEST(Plan, ReplicaAndPartitionAreTheRuns) {
  Module module("ids");
  Builder b(module, "main");
  Finish(b, b.Tuple({b.Add(hlo::kReplicaId, {}), b.Add(hlo::kPartitionId, {})}));
  const auto plan = Compile(module);
  ASSERT_TRUE(plan.ok()) << plan.status();
  RunContext context;
  context.replica_id = 3;
  context.partition_id = 7;
  const auto results = RunPlan(**plan, {}, context);
  ASSERT_TRUE(results.ok());
  EXPECT_EQ((*results)[0].data<uint32_t>()[0], 3u);
  EXPECT_EQ((*results)[1].data<uint32_t>()[0], 7u);
}

TEST(Plan, WhatCannotRunIsRefusedByName) {
  const auto refusal = [](auto make) {
    Module module("refused");
    hlo::Computation& main = module.AddComputation("main");
    make(module.tables(), main);
    module.set_entry(0);
    return Compile(module, {.verify = false}).status();
  };
  Shape dynamic = Shape::Array(hlo::kF32, {4, 8});
  dynamic.dynamic = {false, true};
  absl::Status status = refusal([&](hlo::Tables& tables, hlo::Computation& main) {
    main.Append(hlo::kParameter, tables.Intern(dynamic), tables.Intern(hlo::ParameterAttributes{0}), {});
    main.mutable_notes(0).name = "ragged_batch";
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(FromAbsl(status.message())), HasSubstr("Dimension 1"));
  EXPECT_THAT(std::string(FromAbsl(status.message())), HasSubstr("ragged_batch"));

  status = refusal([&](hlo::Tables& tables, hlo::Computation& main) {
    const hlo::NodeId x =
        main.Append(hlo::kParameter, tables.Intern(kVector), tables.Intern(hlo::ParameterAttributes{0}), {});
    main.Append(hlo::kCustomCall, tables.Intern(kVector),
                tables.Intern(hlo::CustomCallAttributes{.target = "my_kernel"}), {x});
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(FromAbsl(status.message())), HasSubstr("my_kernel"));

  status = refusal([&](hlo::Tables& tables, hlo::Computation& main) {
    const hlo::NodeId x =
        main.Append(hlo::kParameter, tables.Intern(kVector), tables.Intern(hlo::ParameterAttributes{0}), {});
    hlo::CollectiveAttributes two;
    two.groups.lists = {{0, 1}};
    two.dimensions = {0};
    Shape doubled = kVector;
    doubled.dims[0] *= 2;
    main.Append(hlo::kAllGather, tables.Intern(doubled), tables.Intern(two), {x});
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(FromAbsl(status.message())),
              AllOf(HasSubstr("all-gather"), HasSubstr("device (1)"), HasSubstr("num_replicas (1)")));
}

TEST(Plan, TokensAreLeavesOfNoBytes) {
  Module module("tokens");
  Builder b(module, "main");
  const Op token = b.Parameter(0, Shape::Token());
  Finish(b, b.Tuple({b.Add(hlo::kAfterAll, {token}), token, b.Parameter(1, kVector)}));
  const auto plan = Compile(module);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ((*plan)->arguments().size(), 2u);
  EXPECT_EQ((*plan)->results().size(), 3u);
  ASSERT_TRUE(RunPlan(**plan, {Literal(Shape::Token()), Sample(kVector, 1)}).ok());
}

TEST(Plan, TheWrongNumberOfArgumentsIsAnError) {
  Module module("one");
  Builder b(module, "main");
  Finish(b, b.Unary(hlo::kNegate, b.Parameter(0, kVector)));
  const auto plan = Compile(module);
  ASSERT_TRUE(plan.ok());
  RunContext context;
  EXPECT_EQ((*plan)->Run({}, {}, nullptr, context).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Plan, MemoryThatOverflowsIsRefused) {
  Module module("huge");
  Builder b(module, "main");
  Op sum = b.Parameter(0, Shape::Array(hlo::kS8, {int64_t{1} << 61}));
  for (int i = 1; i < 5; ++i) sum = sum + b.Parameter(i, Shape::Array(hlo::kS8, {int64_t{1} << 61}));
  Finish(b, sum);
  const absl::Status status = Compile(module, {.verify = false}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}

// Compiles a chain of dots of small matrices. Fusion cannot shorten it, so each instruction is a step, and
// work that grew with the square of them would take longer than the test may.
TEST(Plan, LongProgramsCompileInTimeThatGrowsWithTheirLength) {
  constexpr int kInstructions = 200'000;
  Module module("long");
  Builder b(module, "main");
  const Op w = b.Parameter(0, Shape::Array(hlo::kF32, {8, 8}));
  Op x = w;
  for (int i = 0; i < kInstructions / 4; ++i) {
    x = b.MatMul(x, w);
    x = b.Unary(hlo::kTanh, x + w);
    x = b.Transpose(x, {1, 0});
  }
  Finish(b, x);
  const auto plan = Compile(module);
  ASSERT_TRUE(plan.ok()) << plan.status();
}

TEST(Plan, ADumpNamesStepsAndPlaces) {
  Module module("dump");
  Builder b(module, "main");
  Finish(b, b.MatMul(b.Parameter(0, Shape::Array(hlo::kF32, {4, 4})),
                     b.Parameter(1, Shape::Array(hlo::kF32, {4, 4}))));
  const auto plan = Compile(module);
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT((*plan)->Dump(), HasSubstr("a0, a1 -> r0"));
  EXPECT_GT((*plan)->stats().flops, 100);
}

// The evaluator copies two operands of 6400 numbers and a result, 3 * 6400 * 4 bytes, and computes in numbers
// of 16 bytes.
TEST(Plan, AReferenceStepIsChargedWhatTheEvaluatorTakes) {
  Module module("reference");
  Builder b(module, "main");
  const Shape square = Shape::Array(hlo::kF32, {80, 80});
  Finish(b, b.Parameter(0, square) + b.Parameter(1, square));
  const auto plan = Compile(module, {.reference_only = true});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ((*plan)->stats().reference_steps, 1);
  EXPECT_GE((*plan)->memory().temporary_bytes, 3 * 6400 * (4 + 16));
  EXPECT_LT((*plan)->memory().temporary_bytes, 3 * 6400 * (4 + 16) + 4096);
  EXPECT_THAT((*plan)->stats().slow_steps, ElementsAre("add: it is left to the evaluator"));
}

TEST(Plan, AStepWithoutElementsIsNotSlow) {
  Module module("empty");
  Builder b(module, "main");
  const Shape none = Shape::Array(hlo::kF32, {0, 80});
  Finish(b, b.Parameter(0, none) + b.Parameter(1, none));
  const auto plan = Compile(module, {.reference_only = true});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT((*plan)->stats().slow_steps, IsEmpty());
}

// The checks of sizes in programs of dynamic shapes are such steps.
TEST(Plan, AStepOfSingleNumbersIsNotSlowAndACustomCallIsNamedByItsTarget) {
  const auto slow = [](const std::string& program) {
    const auto module = hlo::ParseModule("HloModule m\nENTRY e {\n" + program + "}");
    EXPECT_TRUE(module.ok()) << module.status();
    return Compile(**module, {.reference_only = true}).value()->stats().slow_steps;
  };
  EXPECT_THAT(slow("p = s32[] parameter(0)\nROOT r = s32[] add(p, p)\n"), IsEmpty());
  EXPECT_THAT(slow("p = f32[1,1] parameter(0)\nROOT r = f32[1,1] add(p, p)\n"), IsEmpty());
  EXPECT_THAT(slow("p = f32[64] parameter(0)\nROOT r = (f32[4], s32[4]) custom-call(p), "
                   "custom_call_target=\"TopK\"\n"),
              ElementsAre("custom-call TopK: it is left to the evaluator"));
}

TEST(Plan, SlowStepsAreNamedWithTheirLines) {
  const auto sorted_by = [](const std::string& comparison) {
    const auto module = hlo::ParseModule(R"(HloModule m
      f {
        a = f32[] parameter(0)
        b = f32[] parameter(1)
        x = f32[] abs(a)
        y = f32[] abs(b)
        ROOT less = pred[] compare()" + comparison + R"(), direction=LT
      }
      ENTRY e {
        p = f32[8] parameter(0)
        ROOT r = f32[8] sort(p), dimensions={0}, to_apply=f, metadata={source_file="model.cc" source_line=12}
      })");
    EXPECT_TRUE(module.ok()) << module.status();
    return Compile(**module).value()->stats().slow_steps;
  };
  EXPECT_THAT(sorted_by("x, y"), ElementsAre("sort (model.cc:12): its comparator is not an order of keys"));
  EXPECT_THAT(sorted_by("a, b"), IsEmpty());
}

// 3 iterations of two steps, the second of which updates 4 of 4,096 bytes in place; a dot before them.
constexpr char kDotAndLoop[] = R"(HloModule m
    below {
      s = (s32[], f32[32,32]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      three = s32[] constant(3)
      ROOT less = pred[] compare(i, three), direction=LT
    }
    body {
      s = (s32[], f32[32,32]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      x = f32[32,32] get-tuple-element(s), index=1
      one = s32[] constant(1)
      next = s32[] add(i, one), metadata={source_file="loop.py" source_line=7}
      f = f32[1,1] constant({{5}})
      y = f32[32,32] dynamic-update-slice(x, f, i, i), metadata={source_file="loop.py" source_line=8}
      ROOT t = (s32[], f32[32,32]) tuple(next, y)
    }
    ENTRY e {
      p = f32[32,16] parameter(0)
      q = f32[16,32] parameter(1)
      d = f32[32,32] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0},
          metadata={source_file="model.py" source_line=3}
      zero = s32[] constant(0)
      t = (s32[], f32[32,32]) tuple(zero, d)
      w = (s32[], f32[32,32]) while(t), condition=below, body=body
      ROOT r = f32[32,32] get-tuple-element(w), index=1
    })";

TEST(Plan, AProfileHasTheTimeTheWorkAndTheLinesOfEachStep) {
  const auto module = hlo::ParseModule(kDotAndLoop);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto plan = Compile(**module).value();
  StepTimes times;
  RunContext context;
  context.times = &times;
  ASSERT_TRUE(
      RunPlan(*plan,
              {Sample(Shape::Array(hlo::kF32, {32, 16}), 1), Sample(Shape::Array(hlo::kF32, {16, 32}), 2)},
              context)
          .ok());
  const RunProfile profile = plan->Profile(times);
  EXPECT_GT(profile.ns, 0);
  EXPECT_EQ(profile.other_steps, 0);
  std::map<std::string, StepProfile> by_line;
  int64_t sum = 0;
  for (const StepProfile& step : profile.steps) {
    sum += step.ns;
    EXPECT_GT(step.runs, 0) << step.text;
    for (const std::string& line : step.lines) by_line[line] = step;
  }
  EXPECT_LE(sum, profile.ns);
  const StepProfile& dot = by_line["model.py:3"];
  EXPECT_EQ(dot.kind, "library");
  EXPECT_EQ(dot.type, "f32");
  EXPECT_EQ(dot.runs, 1);
  EXPECT_EQ(dot.flops, 2.0 * 32 * 32 * 16);
  EXPECT_EQ(dot.bytes, 4.0 * (32 * 16 + 16 * 32 + 32 * 32));
  EXPECT_THAT(by_line["loop.py:7"].kind, testing::AnyOf("assembled", "interpreted"));
  EXPECT_EQ(by_line["loop.py:7"].runs, 3);
  const StepProfile& update = by_line["loop.py:8"];
  EXPECT_EQ(update.kind, "movement");
  EXPECT_EQ(update.runs, 3);
  EXPECT_EQ(update.bytes, 3 * 4 + 2 * 4.0) << "The element twice, read and written, and two indices.";
}

TEST(Plan, AProfileCountsWhatAFusedStepReadsOfItsInputs) {
  const auto module = hlo::ParseModule(R"(HloModule m
    ENTRY e {
      p = f32[4096] parameter(0)
      q = f32[8] parameter(1)
      part = f32[8] slice(p), slice={[16:24]}
      ROOT r = f32[8] multiply(part, q)
    })");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto plan = Compile(**module).value();
  StepTimes times;
  RunContext context;
  context.times = &times;
  ASSERT_TRUE(RunPlan(*plan,
                      {Sample(Shape::Array(hlo::kF32, {4096}), 1), Sample(Shape::Array(hlo::kF32, {8}), 2)},
                      context)
                  .ok());
  const RunProfile profile = plan->Profile(times);
  ASSERT_EQ(profile.steps.size(), 1u);
  EXPECT_EQ(profile.steps[0].bytes, 3 * 8 * 4.0) << "Eight elements of each input, and of the result.";
}

TEST(Plan, AProfileListsTheLongestSteps) {
  Module module("many");
  Builder b(module, "main");
  Op x = b.Parameter(0, Shape::Array(hlo::kF32, {4, 4}));
  const int count = static_cast<int>(kProfileStepsMax) + 20;
  for (int i = 0; i < count; ++i) x = b.Dot(x, x, {.lhs_contracting = {1}, .rhs_contracting = {0}});
  Finish(b, x);
  const auto plan = Compile(module).value();
  StepTimes times;
  times.instructions.resize(static_cast<size_t>(count) + 1);
  for (int i = 0; i < count; ++i) times.instructions[static_cast<size_t>(i)] = {.runs = 1, .ns = 10 + i};
  const RunProfile profile = plan->Profile(times);
  ASSERT_EQ(profile.steps.size(), kProfileStepsMax);
  EXPECT_EQ(profile.other_steps, 20);
  EXPECT_EQ(profile.other_ns, 20 * 10 + 19 * 20 / 2);
  EXPECT_EQ(profile.steps.front().ns, 30);
  EXPECT_EQ(profile.steps.back().ns, 10 + count - 1);
}

}  // namespace
}  // namespace hlod::engine
