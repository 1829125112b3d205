// Control flow at run time: endless loops, deadlines, cancellation, depth, and the cost of an iteration.
#include <atomic>
#include <chrono>
#include <thread>

#include "common/base/errors/status.h"
#include "common/hlo/builder.h"
#include "gtest/gtest.h"
#include "server/engine/plan/plan.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

using hlo::Builder;
using hlo::ComputationId;
using hlo::Literal;
using hlo::Module;
using hlo::Op;
using hlo::Shape;

const Shape kScalar = Shape::Scalar(hlo::kS32);

// while (i < limit) i += step; an endless loop when step is 0.
void CountingLoop(Module& module) {
  const Shape state = Shape::Tuple({kScalar, kScalar, kScalar});
  Builder condition(module, "condition");
  {
    const Op s = condition.Parameter(0, state);
    ASSERT_TRUE(condition
                    .Build(condition.Compare(condition.GetTupleElement(s, 0), condition.GetTupleElement(s, 1),
                                             hlo::ComparisonDirection::kLt))
                    .ok());
  }
  Builder body(module, "body");
  {
    const Op s = body.Parameter(0, state);
    const Op step = body.GetTupleElement(s, 2);
    ASSERT_TRUE(
        body.Build(body.Tuple({body.GetTupleElement(s, 0) + step, body.GetTupleElement(s, 1), step})).ok());
  }
  Builder b(module, "main");
  const Op zero = b.Constant(Literal::Scalar<int32_t>(0));
  const Op end =
      b.While(b.Tuple({zero, b.Parameter(0, kScalar), b.Parameter(1, kScalar)}), condition.id(), body.id());
  ASSERT_TRUE(b.Build(b.GetTupleElement(end, 0)).ok());
}

std::vector<Literal> Arguments(int32_t limit, int32_t step) {
  return {Literal::Scalar<int32_t>(limit), Literal::Scalar<int32_t>(step)};
}

class Endless : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    Module module("endless");
    CountingLoop(module);
    auto plan = Compile(module, {.reference_only = GetParam()});
    ASSERT_TRUE(plan.ok()) << plan.status();
    plan_ = *std::move(plan);
  }
  std::unique_ptr<Plan> plan_;
};

TEST_P(Endless, EndsAtItsDeadline) {
  RunContext context;
  context.deadline = absl::Now() + absl::Milliseconds(50);
  EXPECT_EQ(RunPlan(*plan_, Arguments(1, 0), context).status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_GE(absl::Now(), context.deadline);
}

TEST_P(Endless, EndsWhenCancelled) {
  std::atomic<bool> cancel = false;
  RunContext context;
  context.cancel = &cancel;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // tidy: an endless loop announces nothing.
    cancel = true;
  });
  EXPECT_EQ(RunPlan(*plan_, Arguments(1, 0), context).status().code(), absl::StatusCode::kCancelled);
  canceller.join();
}

TEST_P(Endless, ADeadlineThatIsPastRunsNothing) {
  RunContext context;
  context.deadline = absl::Now() - absl::Seconds(1);
  EXPECT_EQ(RunPlan(*plan_, Arguments(1, 0), context).status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_P(Endless, IsAPlanLikeAnyOtherWhenItEnds) {
  RunContext context;
  context.deadline = absl::Now() + absl::Seconds(60);
  const auto results = RunPlan(*plan_, Arguments(20, 3), context);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].data<int32_t>()[0], 21);
}

INSTANTIATE_TEST_SUITE_P(Steps, Endless, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Reference" : "Kernels"; });

// An iteration is two steps, a test and a jump, without allocations or lookups.
TEST(Control, ATinyLoopIteratesMillionsOfTimes) {
  Module module("count");
  CountingLoop(module);
  const auto plan = Compile(module, {.threads = 1});
  ASSERT_TRUE(plan.ok()) << plan.status();
  constexpr int32_t kIterations = 3'000'000;
  const auto results = RunPlan(**plan, Arguments(kIterations, 1));
  ASSERT_TRUE(results.ok());
  EXPECT_EQ((*results)[0].data<int32_t>()[0], kIterations);
}

// Forty nested loops of one iteration each, except the outermost, which has three.
TEST(Control, LoopsNestDeeply) {
  Module module("deep");
  const Shape state = Shape::Tuple({kScalar, kScalar});
  ComputationId inner = 0;
  for (int level = 0; level < 40; ++level) {
    Builder condition(module, "condition");
    const Op s = condition.Parameter(0, state);
    ASSERT_TRUE(
        condition
            .Build(condition.Compare(condition.GetTupleElement(s, 0),
                                     condition.Constant(Literal::Scalar<int32_t>(level == 39 ? 3 : 1)),
                                     hlo::ComparisonDirection::kLt))
            .ok());
    Builder body(module, "body");
    const Op t = body.Parameter(0, state);
    const Op one = body.Constant(Literal::Scalar<int32_t>(1)),
             zero = body.Constant(Literal::Scalar<int32_t>(0));
    Op x = body.GetTupleElement(t, 1);
    if (level > 0) x = body.GetTupleElement(body.Call({body.Tuple({zero, x})}, inner), 1);
    ASSERT_TRUE(body.Build(body.Tuple({body.GetTupleElement(t, 0) + one, x + one})).ok());
    Builder loop(module, "loop");
    ASSERT_TRUE(loop.Build(loop.While(loop.Parameter(0, state), condition.id(), body.id())).ok());
    inner = loop.id();
  }
  const auto plan = Compile(module, {.verify = false});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto results = RunPlan(**plan, {Literal::Scalar<int32_t>(0), Literal::Scalar<int32_t>(5)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].data<int32_t>()[0], 3);
  EXPECT_EQ((*results)[1].data<int32_t>()[0], 5 + 3 * 40);
}

// Runs one plan many times at once, each in its own memory.
TEST(Control, RunsOfOnePlanMayOverlap) {
  Module module("count");
  CountingLoop(module);
  const auto plan = Compile(module, {.threads = 1});
  ASSERT_TRUE(plan.ok());
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto results = RunPlan(**plan, Arguments(1000 + t, 1));
      if (results.ok() && (*results)[0].data<int32_t>()[0] == 1000 + t) ++right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4);
}

}  // namespace
}  // namespace hlod::engine
