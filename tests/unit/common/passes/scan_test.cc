// scan: its text and bytes, the evaluator's loop, and the loop that replaces it. Expected values by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/evaluator/evaluator.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "common/passes/passes.h"

namespace hlod::passes {
namespace {

using ::testing::HasSubstr;

// Stacks the running sums of the rows, and counts iterations.
constexpr char kSums[] = R"(HloModule sums

body {
  x = f32[2] parameter(0)
  sum = f32[2] parameter(1)
  turns = s32[] parameter(2)
  next = f32[2] add(sum, x)
  one = s32[] constant(1)
  more = s32[] add(turns, one)
  ROOT result = (f32[2], f32[2], s32[]) tuple(next, next, more)
}

ENTRY main {
  x = f32[3,2] parameter(0)
  zero = f32[2] parameter(1)
  turns = s32[] parameter(2)
  ROOT scan = (f32[3,2], f32[2], s32[]) scan(x, zero, turns), dimensions={0}, REVERSEnum_carries=2, to_apply=body
}
)";

std::string Sums(bool reverse) {
  std::string text = kSums;
  const std::string mark = "REVERSE";
  return text.replace(text.find(mark), mark.size(), reverse ? "is_reverse=true, " : "");
}

hlo::Literal RunSums(const hlo::Module& module) {
  const auto x = hlo::Literal::Array<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto zero = hlo::Literal::Vector<float>({0, 10});
  const auto turns = hlo::Literal::Scalar<int32_t>(5);
  return Evaluate(module, {&x, &zero, &turns}).value();
}

TEST(Scan, EvaluatesAndExpandsToTheSame) {
  for (const bool reverse : {false, true}) {
    const auto module = hlo::ParseModule(Sums(reverse)).value();
    ASSERT_TRUE(hlo::Verify(*module).ok());
    const auto stacked = reverse ? hlo::Literal::Array<float>({3, 2}, {9, 22, 8, 20, 5, 16})
                                 : hlo::Literal::Array<float>({3, 2}, {1, 12, 4, 16, 9, 22});
    const hlo::Literal direct = RunSums(*module);
    EXPECT_EQ(direct.elements()[0], stacked);
    EXPECT_EQ(direct.elements()[1], hlo::Literal::Vector<float>({9, 22}));
    EXPECT_EQ(direct.elements()[2], hlo::Literal::Scalar<int32_t>(8));
    ASSERT_TRUE(HasScans(*module));
    const auto loops = ExpandScans(*module);
    EXPECT_FALSE(HasScans(*loops));
    ASSERT_TRUE(hlo::Verify(*loops).ok()) << hlo::Verify(*loops) << hlo::ToText(*loops);
    EXPECT_EQ(RunSums(*loops), direct);
    EXPECT_EQ(RunSums(*RunPipeline(*module).value()), direct);
  }
}

TEST(Scan, AStackThatNothingReadsIsNotMade) {
  std::string text = Sums(false);
  const std::string root = "ROOT scan";
  text.replace(text.find(root), root.size(), "scan");
  text.insert(text.rfind('}'), "  ROOT sum = f32[2] get-tuple-element(scan), index=1\n");
  const auto module = hlo::ParseModule(text).value();
  const auto loops = ExpandScans(*module);
  ASSERT_TRUE(hlo::Verify(*loops).ok()) << hlo::Verify(*loops) << hlo::ToText(*loops);
  EXPECT_EQ(RunSums(*loops), hlo::Literal::Vector<float>({9, 22}));
  const std::string lowered = hlo::ToText(*RunPipeline(*module).value());
  EXPECT_EQ(lowered.find("dynamic-update-slice"), std::string::npos) << lowered;
}

TEST(Scan, RoundTripsAsTextAndBytes) {
  const auto module = hlo::ParseModule(Sums(true)).value();
  const std::string text = hlo::ToText(*module);
  EXPECT_THAT(text, HasSubstr("dimensions={0}, is_reverse=true, num_carries=2, to_apply=body"));
  EXPECT_EQ(hlo::ToText(*hlo::ParseModule(text).value()), text);
  const auto again = hlo::FromSerialized(hlo::Serialize(*module)).value();
  EXPECT_THAT(hlo::ToText(*again),
              HasSubstr("dimensions={0}, is_reverse=true, num_carries=2, to_apply=body"));
  EXPECT_EQ(hlo::ToText(*hlo::FromSerialized(hlo::Serialize(*again)).value()), hlo::ToText(*again));
}

TEST(Scan, OfNoSlicesGivesItsCarries) {
  const auto module = hlo::ParseModule(R"(HloModule empty
body {
  x = f32[] parameter(0)
  c = f32[] parameter(1)
  next = f32[] add(c, x)
  ROOT result = (f32[], f32[]) tuple(next, next)
}
ENTRY main {
  x = f32[0] parameter(0)
  c = f32[] parameter(1)
  ROOT scan = (f32[0], f32[]) scan(x, c), dimensions={0}, num_carries=1, to_apply=body
})")
                          .value();
  const hlo::Literal x(hlo::Shape::Array(hlo::kF32, {0})), c = hlo::Literal::Scalar<float>(3);
  for (const hlo::Literal& result :
       {Evaluate(*module, {&x, &c}).value(), Evaluate(*RunPipeline(*module).value(), {&x, &c}).value()}) {
    EXPECT_EQ(result.elements()[0], x);
    EXPECT_EQ(result.elements()[1], c);
  }
}

TEST(Scan, WhatDoesNotFitIsNamed) {
  const auto refused = [](std::string from, std::string to) {
    std::string text = Sums(false);
    text.replace(text.find(from), from.size(), to);
    const auto module = hlo::ParseModule(text);
    return module.ok() ? hlo::Verify(**module) : module.status();
  };
  EXPECT_THAT(refused("num_carries=2", "num_carries=3").message(), HasSubstr("num_carries (3)"));
  EXPECT_THAT(refused("dimensions={0}", "dimensions={2}").message(), HasSubstr("dimension"));
  EXPECT_THAT(
      refused("turns = s32[] parameter(2)\n  ROOT scan", "turns = s64[] parameter(2)\n  ROOT scan").message(),
      HasSubstr("Parameter 2"));
}

}  // namespace
}  // namespace hlod::passes
