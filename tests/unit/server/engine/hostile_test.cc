// Modules that verify but are hostile or senseless: they are computed, refused, or stopped at the deadline.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;
using ::testing::Each;
using ::testing::ElementsAre;

std::unique_ptr<Plan> Compiled(const std::string& text) {
  auto module = hlo::ParseModule("HloModule m\n\n" + text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return nullptr;
  EXPECT_TRUE(hlo::Verify(**module).ok()) << hlo::Verify(**module);
  auto plan = Compile(**module, {.threads = 2});
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : nullptr;
}

std::vector<Literal> Results(const std::string& text, const std::vector<Literal>& arguments = {}) {
  const std::unique_ptr<Plan> plan = Compiled(text);
  if (plan == nullptr) return {};
  auto results = RunPlan(*plan, arguments);
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *std::move(results) : std::vector<Literal>();
}

// Expects that a run stops soon at a deadline, and when it is cancelled.
void ExpectStops(const std::string& text, const std::vector<Literal>& arguments) {
  const std::unique_ptr<Plan> plan = Compiled(text);
  ASSERT_NE(plan, nullptr);
  RunContext context;
  context.deadline = absl::Now() + absl::Milliseconds(20);
  EXPECT_EQ(RunPlan(*plan, arguments, context).status().code(), absl::StatusCode::kDeadlineExceeded);
  std::atomic<bool> cancel{true};
  RunContext cancelled;
  cancelled.cancel = &cancel;
  EXPECT_EQ(RunPlan(*plan, arguments, cancelled).status().code(), absl::StatusCode::kCancelled);
}

TEST(Hostile, AGatherOfNothingFromADroppedDimensionGivesZeros) {
  const std::string gather = R"( ROOT r = f32[16] gather(p, i), offset_dims={0}, collapsed_slice_dims={0},
      start_index_map={0}, index_vector_dim=0, slice_sizes={0,16}
})";
  for (const std::string rows : {"1", "0"}) {
    const std::vector<Literal> results =
        Results("ENTRY e {\n p = f32[" + rows + ",16] parameter(0)\n i = s32[1] constant({1})\n" + gather,
                {Sample(hlo::Shape::Array(hlo::kF32, {rows == "1" ? 1 : 0, 16}), 1)});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_THAT(results[0].data<float>(), Each(0.0f));
  }
}

TEST(Hostile, WindowsOverEmptyArraysAreEmpty) {
  const std::vector<Literal> results = Results(R"(a {
 x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y)
}
ENTRY e {
 p = f32[4,0] parameter(0)
 z = f32[] constant(0)
 ROOT r = f32[3,0] reduce-window(p, z), window={size=2x1}, to_apply=a
})",
                                               {Literal(hlo::Shape::Array(hlo::kF32, {4, 0}))});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].element_count(), 0);
}

TEST(Hostile, AScatterOfEmptyUpdatesChangesNothing) {
  const Literal operand = Literal::Vector<float>({1, 2, 3});
  const std::vector<Literal> results = Results(R"(a {
 x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y)
}
ENTRY e {
 p = f32[3] parameter(0)
 q = f32[1,3] reshape(p)
 i = s32[2,1] constant({{0}, {0}})
 u = f32[2,0] parameter(1)
 ROOT r = f32[1,3] scatter(q, i, u), update_window_dims={1}, inserted_window_dims={0},
   scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=a
})",
                                               {operand, Literal(hlo::Shape::Array(hlo::kF32, {2, 0}))});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0].data<float>(), ElementsAre(1, 2, 3));
}

TEST(Hostile, AComparatorOfAHundredThousandSelectsIsNotRecursedInto) {
  std::string text =
      "c {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n z = f32[] constant(0)\n"
      " t = pred[] compare(x, z), direction=EQ\n s0 = f32[] select(t, z, x)\n";
  constexpr int kSelects = 100'000;
  for (int i = 1; i < kSelects; ++i) absl::StrAppend(&text, " s", i, " = f32[] select(t, z, s", i - 1, ")\n");
  absl::StrAppend(
      &text, " ROOT r = pred[] compare(s", kSelects - 1, ", y), direction=LT\n}\n",
      "ENTRY e {\n p = f32[2] parameter(0)\n ROOT r = f32[2] sort(p), dimensions={0}, to_apply=c\n}");
  const std::vector<Literal> results = Results(text, {Literal::Vector<float>({2, 1})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0].data<float>(), ElementsAre(1, 2));
}

TEST(Hostile, AnEndlessReducerOfAConstantDoesNotRunWhileCompiling) {
  ExpectStops(R"(c {
 s = f32[] parameter(0)
 ROOT t = pred[] constant(true)
}
b {
 ROOT s = f32[] parameter(0)
}
a {
 x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT w = f32[] while(x), condition=c, body=b
}
ENTRY e {
 k = f32[4] constant({1, 2, 3, 4})
 z = f32[] constant(0)
 ROOT r = f32[] reduce(k, z), dimensions={0}, to_apply=a
})",
              {});
}

TEST(Hostile, AWindowOfATebibyteOfPaddingTakesNoTime) {
  // Folds x + x * y from the left over 1, 2, 3, 4 only; padding elements are not reduced.
  const std::vector<Literal> results = Results(R"(a {
 x = f32[] parameter(0)
 y = f32[] parameter(1)
 m = f32[] multiply(x, y)
 ROOT s = f32[] add(x, m)
}
ENTRY e {
 p = f32[4] parameter(0)
 one = f32[] constant(1)
 ROOT r = f32[4] reduce-window(p, one), window={size=1099511627772 pad=0_1099511627771}, to_apply=a
})",
                                               {Literal::Vector<float>({1, 2, 3, 4})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0].data<float>(), ElementsAre(2 * 3 * 4 * 5, 3 * 4 * 5, 4 * 5, 5));
}

// A loop over a tuple of 1000 leaves, in a function that is called 5000 times: few instructions, many values.
TEST(Hostile, LeavesOfTuplesCountAtEachCall) {
  std::string wide = "(s32[]";
  for (int i = 1; i < 1000; ++i) wide += ",s32[]";
  wide += ")";
  const std::string state = "(" + wide + ",s32[])";
  std::string text =
      absl::StrCat("body {\n p = ", state, " parameter(0)\n a = ", wide,
                   " get-tuple-element(p), index=0\n b = s32[] get-tuple-element(p), index=1\n"
                   " one = s32[] constant(1)\n c = s32[] add(b, one)\n ROOT t = ",
                   state, " tuple(a, c)\n}\ncond {\n q = ", state,
                   " parameter(0)\n d = s32[] get-tuple-element(q), index=1\n"
                   " z = s32[] constant(0)\n ROOT l = pred[] compare(d, z), direction=LT\n}\n");
  absl::StrAppend(&text, "f {\n g = ", wide, " parameter(0)\n h = s32[] parameter(1)\n i = ", state,
                  " tuple(g, h)\n w = ", state, " while(i), condition=cond, body=body\n",
                  " ROOT r = s32[] get-tuple-element(w), index=1\n}\nENTRY e {\n y = ", wide,
                  " parameter(0)\n x0 = s32[] parameter(1)\n");
  constexpr int kCalls = 5000;
  for (int i = 1; i <= kCalls; ++i)
    absl::StrAppend(&text, i == kCalls ? " ROOT" : "", " x", i, " = s32[] call(y, x", i - 1,
                    "), to_apply=f\n");
  const auto module = hlo::ParseModule("HloModule m\n\n" + text + "}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::Status status = Compile(**module, {.threads = 2}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("array values once calls are inlined"));
}

// Nested conditionals multiply like calls: a module of 50 instructions would become a million steps, in 2 GB.
TEST(Hostile, NestedConditionalsAreBoundedByWhatWasSent) {
  std::string text = "c0 {\n a = f32[] parameter(0)\n ROOT r = f32[] add(a, a)\n}\n";
  constexpr int kLevels = 10;
  for (int level = 1; level <= kLevels; ++level) {
    const std::string below =
        absl::StrCat("true_computation=c", level - 1, ", false_computation=c", level - 1);
    absl::StrAppend(&text, "c", level,
                    " {\n a = f32[] parameter(0)\n p = pred[] compare(a, a), direction=LT\n",
                    " x = f32[] conditional(p, a, a), ", below, "\n ROOT r = f32[] conditional(p, x, x), ",
                    below, "\n}\n");
  }
  const auto module = hlo::ParseModule(absl::StrCat("HloModule m\n\n", text,
                                                    "ENTRY e {\n p = f32[] parameter(0)\n ROOT r = f32[] "
                                                    "call(p), to_apply=c",
                                                    kLevels, "\n}\n"));
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::Status status = Compile(**module, {.threads = 2}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("stand where they are called; the limit for one of its size is"));
}

// Ten levels of functions, each of which calls the one below it twice, become 1024 sines.
TEST(Hostile, TheMemoryOfACompilationIsReservedBeforeItIsTaken) {
  std::string text = "HloModule fan\n\nf0 {\n x = f32[] parameter(0)\n ROOT y = f32[] sine(x)\n}\n";
  constexpr int kLevels = 11;
  for (int level = 1; level < kLevels; ++level) {
    const std::string below = absl::StrCat("), to_apply=f", level - 1, "\n");
    absl::StrAppend(&text, "f", level, " {\n x = f32[] parameter(0)\n a = f32[] call(x", below,
                    " ROOT b = f32[] call(a", below, "}\n");
  }
  absl::StrAppend(&text, "ENTRY e {\n x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=f10\n}\n");
  const auto module = hlo::ParseModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<int64_t> reserved;
  CompileOptions options{.threads = 1};
  options.reserve = [&](int64_t bytes) {
    reserved.push_back(bytes);
    return absl::OkStatus();
  };
  ASSERT_TRUE(Compile(**module, options).ok());
  ASSERT_EQ(reserved.size(), 1u);
  EXPECT_GT(reserved[0], 1024 * static_cast<int64_t>(sizeof(void*)));
  EXPECT_LT(reserved[0], 64 << 20);
  options.reserve = [](int64_t) { return absl::ResourceExhaustedError("no room"); };
  EXPECT_EQ(Compile(**module, options).status().message(), "no room");
}

// Twenty functions, each of which calls the one below it twice: a million instructions from two kilobytes of
// text. The count by hand: f0 has 2 instructions; each function above has a parameter, two calls and the
// callees' instructions.
TEST(Hostile, AFanOfCallsIsRefusedBeforeItIsLaidOut) {
  std::string text = "HloModule fan\n\nf0 {\n x = f32[] parameter(0)\n ROOT y = f32[] sine(x)\n}\n";
  constexpr int kLevels = 20;
  int64_t count = 2;
  for (int level = 1; level < kLevels; ++level) {
    const std::string below = absl::StrCat("), to_apply=f", level - 1, "\n");
    absl::StrAppend(&text, "f", level, " {\n x = f32[] parameter(0)\n a = f32[] call(x", below,
                    " ROOT b = f32[] call(a", below, "}\n");
    count = 3 + 2 * count;
  }
  absl::StrAppend(&text, "ENTRY e {\n x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=f",
                  kLevels - 1, "\n}\n");
  const auto module = hlo::ParseModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::Status status = Compile(**module, {.threads = 2}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(
      std::string(status.message()),
      ::testing::HasSubstr(absl::StrCat("Module fan, which has (61) instructions, has (", 2 + count, ")")));
}

// Each line has the maximum length, but the number of lines is 0.
TEST(Hostile, ASortOfNoElementsTakesNothing) {
  constexpr char kLess[] =
      "HloModule m\n\nless {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      " ROOT r = pred[] compare(a, b), direction=LT\n}\n";
  constexpr char kOdd[] =
      "HloModule m\n\nless {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] cosine(a)\n"
      " d = f32[] cosine(b)\n ROOT r = pred[] compare(c, d), direction=LT\n}\n";
  for (const std::string shape : {"f32[4611686018427387904,0]", "f32[0,9223372036854775807,5]",
                                  "f32[9223372036854775807,9223372036854775807,0]"}) {
    for (const char* computations : {kLess, kOdd}) {
      for (const std::string dimension : {"0", "1"}) {
        const auto module = hlo::ParseModule(
            absl::StrCat(computations, "ENTRY e {\n p = ", shape, " parameter(0)\n ROOT r = ", shape,
                         " sort(p), dimensions={", dimension, "}, to_apply=less\n}\n"));
        ASSERT_TRUE(module.ok()) << module.status();
        for (const bool reference : {false, true}) {
          const auto plan = Compile(**module, {.threads = 2, .reference_only = reference});
          ASSERT_TRUE(plan.ok()) << plan.status();
          std::vector<Literal> arguments;
          arguments.emplace_back((*plan)->arguments()[0]);
          EXPECT_TRUE(RunPlan(**plan, arguments).ok()) << shape << dimension << reference;
        }
      }
    }
  }
}

// The limit keeps the size of scratch memory, a multiple of the array's bytes, from overflowing.
TEST(Hostile, AnArrayLargerThanMemoryCanBeIsRefused) {
  const auto module = hlo::ParseModule(R"(HloModule m

ENTRY e {
 p = s8[] parameter(0)
 ROOT r = s8[281474976710657] broadcast(p), dimensions={}
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::Status status = Compile(**module, {.threads = 2}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("exceed the limit (281474976710656)"));
}

TEST(Hostile, AReductionOfWhatIsNowhereStopsAtItsDeadline) {
  // 2^40 elements, which are never all in memory.
  for (const std::string dimension : {"0", "1"}) {
    ExpectStops(R"(a {
 x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y)
}
ENTRY e {
 p = f32[] parameter(0)
 b = f32[1048576,1048576] broadcast(p), dimensions={}
 i = f32[1048576,1048576] iota(), iota_dimension=0
 n = f32[1048576,1048576] add(b, i)
 z = f32[] constant(0)
 ROOT r = f32[1048576] reduce(n, z), dimensions={)" +
                    dimension + "}, to_apply=a\n}",
                {Literal::Scalar<float>(1)});
  }
}

TEST(Hostile, ALongWindowStopsAtItsDeadline) {
  ExpectStops(R"(a {
 x = f32[] parameter(0)
 y = f32[] parameter(1)
 m = f32[] multiply(x, y)
 ROOT s = f32[] add(x, m)
}
ENTRY e {
 p = f32[300000] parameter(0)
 one = f32[] constant(1)
 ROOT r = f32[300000] reduce-window(p, one), window={size=300000 pad=0_299999}, to_apply=a
})",
              {Literal(hlo::Shape::Array(hlo::kF32, {300000}))});
}

TEST(Conversions, RoundOnceOnTheWayToANarrowFloat) {
  // 2^30 + 2^22 + 1 is just above the middle of two bf16 neighbours; rounded to f32 first, it would be the
  // middle.
  const std::vector<Literal> results =
      Results(R"(ENTRY e {
 p = s32[4] parameter(0)
 b = bf16[4] convert(p)
 ROOT r = f32[4] convert(b)
})",
              {Literal::Vector<int32_t>({1077936129, -1077936129, 5, 1077936128})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0].data<float>(), ElementsAre(1082130432.0f, -1082130432.0f, 5.0f, 1073741824.0f));
}

TEST(Conversions, ThroughAFloatSaturate) {
  const std::vector<Literal> results = Results(R"(ENTRY e {
 p = s16[3] parameter(0)
 f = f32[3] convert(p)
 ROOT r = s8[3] convert(f)
})",
                                               {Literal::Vector<int16_t>({300, -300, 7})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0].data<int8_t>(), ElementsAre(127, -128, 7));
}

}  // namespace
}  // namespace hlod::engine
