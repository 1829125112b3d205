// rng in whole programs: numbers are drawn anew each time, are never merged or folded, and equal the
// evaluator's.
#include <set>
#include <string>

#include "common/hlo/text/text.h"
#include "gtest/gtest.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

std::unique_ptr<hlo::Module> Parse(const std::string& text) {
  auto module = hlo::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

std::vector<hlo::Literal> RunIt(const Plan& plan) {
  auto results = RunPlan(plan, {});
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *std::move(results) : std::vector<hlo::Literal>();
}

TEST(Rng, IsTheEvaluators) {
  for (const std::string type : {"f32", "f64", "f16", "bf16"}) {
    for (const std::string distribution : {"rng_uniform", "rng_normal"}) {
      const auto module =
          Parse("ENTRY e {\n a = " + type + "[] constant(-2)\n b = " + type + "[] constant(5)\n" +
                " ROOT r = " + type + "[7,31] rng(a, b), distribution=" + distribution + "\n}\n");
      const double tolerance = type == "f16" ? 4e-3 : type == "bf16" ? 2e-2 : 1e-5;
      ExpectAgreesWithEvaluator(*module, tolerance, tolerance);
    }
  }
  for (const std::string type : {"s8", "u16", "s32", "u64"}) {
    ExpectAgreesWithEvaluator(*Parse("ENTRY e {\n a = " + type + "[] constant(2)\n b = " + type +
                                     "[] constant(100)\n ROOT r = " + type +
                                     "[7,31] rng(a, b), distribution=rng_uniform\n}\n"));
  }
}

// Two equal draws, and two calls of a function that draws, all differ, in each of three runs.
TEST(Rng, EachDrawIsAnother) {
  const auto module = Parse(
      "draw {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      " ROOT r = f32[4] rng(a, b), distribution=rng_uniform\n}\n"
      "ENTRY e {\n a = f32[] constant(0)\n b = f32[] constant(1)\n"
      " p = f32[4] rng(a, b), distribution=rng_uniform\n q = f32[4] rng(a, b), distribution=rng_uniform\n"
      " r = f32[4] call(a, b), to_apply=draw\n s = f32[4] call(a, b), to_apply=draw\n"
      " ROOT t = (f32[4], f32[4], f32[4], f32[4]) tuple(p, q, r, s)\n}\n");
  for (const bool reference_only : {false, true}) {
    const auto plan = Compile(*module, {.threads = 1, .reference_only = reference_only});
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ((*plan)->stats().reference_steps == 0, !reference_only);
    std::set<float> seen;
    for (int run = 0; run < 3; ++run) {
      for (const hlo::Literal& leaf : RunIt(**plan)) {
        for (const float x : leaf.data<float>()) EXPECT_TRUE(seen.insert(x).second) << x;
      }
    }
    EXPECT_EQ(seen.size(), 48u);
  }
}

TEST(RngState, GoesOnFromRunToRunAndFromTurnToTurn) {
  const auto module = Parse(
      "body {\n s = (s32[], u64[2]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
      " one = s32[] constant(1)\n n = s32[] add(i, one)\n r = u64[2] rng-get-and-update-state(), delta=7\n"
      " ROOT t = (s32[], u64[2]) tuple(n, r)\n}\n"
      "condition {\n s = (s32[], u64[2]) parameter(0)\n i = s32[] get-tuple-element(s), index=0\n"
      " three = s32[] constant(3)\n ROOT p = pred[] compare(i, three), direction=LT\n}\n"
      "ENTRY e {\n z = s32[] constant(0)\n r = u64[2] constant({0, 0})\n t = (s32[], u64[2]) tuple(z, r)\n"
      " w = (s32[], u64[2]) while(t), condition=condition, body=body\n"
      " ROOT u = u64[2] get-tuple-element(w), index=1\n}\n");
  const auto plan = Compile(*module, {.threads = 1});
  ASSERT_TRUE(plan.ok()) << plan.status();
  // The third iteration returns the state before its own update: after two updates in the first run, and
  // after five in the second.
  EXPECT_EQ(RunIt(**plan)[0].data<uint64_t>()[0], 117515157u + 2 * 7);
  EXPECT_EQ(RunIt(**plan)[0].data<uint64_t>()[0], 117515157u + 5 * 7);
}

}  // namespace
}  // namespace hlod::engine
