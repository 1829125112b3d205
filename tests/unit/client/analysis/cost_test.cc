// Costs of single instructions and of loops, by hand arithmetic; for JAX's modules see tests/conformance.
#include "client/analysis/module/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/hlo/text/text.h"

namespace hlod::analysis {
namespace {

using testing::ElementsAre;

ModuleCost CostOfText(const std::string& text) {
  const auto module = hlo::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return CostOf(**module);
}

TEST(Cost, AFusedMultiplyAddIsTwoOperations) {
  const ModuleCost cost = CostOfText(R"(HloModule m
ENTRY e {
  a = bf16[4096,4096] parameter(0)
  b = bf16[4096,4096] parameter(1)
  ROOT d = bf16[4096,4096] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  EXPECT_EQ(cost.total.flops, 2.0 * 4096 * 4096 * 4096);
  EXPECT_EQ(cost.total.bytes, 3.0 * 2 * 4096 * 4096);
}

constexpr char kLoop[] = R"(HloModule m
body {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[8] exponential(x)
  ROOT r = (s32[], f32[8]) tuple(next, y)
}
condition {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] %s
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  zero = s32[] constant(0)
  x = f32[8] parameter(0)
  init = (s32[], f32[8]) tuple(zero, x)
  ROOT w = (s32[], f32[8]) while(init), condition=condition, body=body
})";

std::string Loop(const std::string& limit) {
  std::string text = kLoop;
  text.replace(text.find("%s"), 2, limit);
  return text;
}

TEST(Cost, ALoopCountsAsOftenAsItTurns) {
  const ModuleCost cost = CostOfText(Loop("constant(5)"));
  EXPECT_EQ(cost.total.transcendentals, 5 * 8);
  EXPECT_EQ(cost.total.flops, 5 + 6) << "an addition a turn, a comparison before each and at the end";
  EXPECT_EQ(cost.once.transcendentals, 8);
  EXPECT_THAT(cost.unknown_loops, ElementsAre());
}

// A body that runs 5 times: its addition is 5 operations, and the condition's comparison runs 6 times.
TEST(Cost, WhatComputesMostComesFirst) {
  std::string text = Loop("constant(5)");
  text.replace(text.find("exponential(x)"), 14, "multiply(x, x)");
  const ModuleCost cost = CostOfText(text);
  ASSERT_EQ(cost.largest.size(), 3u);
  EXPECT_EQ(cost.largest[0].name, "y");
  EXPECT_EQ(cost.largest[0].flops, 5 * 8);
  EXPECT_EQ(cost.largest[1].name, "c");
  EXPECT_EQ(cost.largest[1].flops, 6);
  EXPECT_EQ(cost.largest[2].flops, 5);
}

TEST(Cost, ALoopOfUnknownLengthIsNamed) {
  std::string text = Loop("get-tuple-element(s), index=0");
  const ModuleCost cost = CostOfText(text);
  EXPECT_EQ(cost.total.transcendentals, 8);
  EXPECT_THAT(cost.unknown_loops, ElementsAre("w"));
}

// Regression: std::abs of the smallest integer is negative, so that it passed as a small number.
TEST(Cost, ALoopFromTheSmallestIntegerIsOfUnknownLength) {
  std::string text = Loop("constant(5)");
  text.replace(text.find("constant(0)"), 11, "constant(-9223372036854775808)");
  for (size_t at = 0; (at = text.find("s32[]", at)) != std::string::npos;) text.replace(at, 3, "s64");
  const ModuleCost cost = CostOfText(text);
  EXPECT_EQ(cost.total.transcendentals, 8);
  EXPECT_THAT(cost.unknown_loops, ElementsAre("w"));
}

// XLA notes the trip count as JSON, with any blanks, in any order, the number with or without quotes.
TEST(Cost, ANotedTripCountIsReadAsJson) {
  const auto turns = [](const std::string& config) {
    std::string text = Loop("get-tuple-element(s), index=0");
    text.insert(text.size() - 1, ", backend_config=" + config);
    return CostOfText(text).total.transcendentals / 8;
  };
  EXPECT_EQ(turns(R"({"known_trip_count":{"n":"5"}})"), 5);
  EXPECT_EQ(turns(R"({"known_init_step": {"step":"1"}, "known_trip_count" : { "n" : 7 }})"), 7);
  EXPECT_EQ(turns(R"({"note":"\"known_trip_count\":{\"n\":\"9\"}"})"), 1) << "a string that looks like it";
  EXPECT_EQ(turns(R"({"known_trip_count":{"n":"-5"}})"), 1);
}

// The comparison, before each iteration and at the end, is not of a negative number of times.
TEST(Cost, TheLargestNotedTripCountDoesNotOverflow) {
  std::string text = Loop("get-tuple-element(s), index=0");
  text.insert(text.size() - 1, R"(, backend_config={"known_trip_count":{"n":"9223372036854775807"}})");
  EXPECT_EQ(CostOfText(text).total.flops, 0x1p64) << "2^63 additions and as many comparisons";
}

TEST(Cost, CustomCallsAreListedOnce) {
  const ModuleCost cost = CostOfText(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] custom-call(x), custom_call_target="mine"
  b = f32[4] custom-call(a), custom_call_target="mine"
  ROOT s = f32[4] add(a, b)
})");
  EXPECT_EQ(cost.total.flops, 4);
  EXPECT_THAT(cost.unknown_calls, ElementsAre("mine"));
}

}  // namespace
}  // namespace hlod::analysis
