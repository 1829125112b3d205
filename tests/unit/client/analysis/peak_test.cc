// Peaks of small programs, by hand.
#include "client/analysis/peak.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/hlo/text/text.h"

namespace hlod::analysis {
namespace {

Peak PeakOfText(const std::string& text, bool fused) {
  const auto module = hlo::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return PeakOf(**module, {.fused = fused}).value();
}

// 400 bytes an array.
constexpr char kChain[] = R"(HloModule m
ENTRY e {
  x = f32[10,10] parameter(0)
  a = f32[10,10] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[10,10] sine(a)
  c = f32[10,10] multiply(b, a)
  d = f32[10,10] dot(c, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[10,10] dot(d, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";

TEST(Peak, CountsWhatIsAliveAtOnce) {
  const Peak peak = PeakOfText(kChain, /*fused=*/true);
  EXPECT_EQ(peak.arguments, 400);
  EXPECT_EQ(peak.results, 400);
  EXPECT_EQ(peak.temporaries, 3 * 400) << "a, c and d when d is computed; b is computed inside c";
  EXPECT_EQ(peak.at, "d");
  EXPECT_EQ(peak.total(), 2000);
}

TEST(Peak, AnElementwiseResultTakesOverItsOperand) {
  const Peak peak = PeakOfText(kChain, /*fused=*/false);
  EXPECT_EQ(peak.temporaries, 3 * 400) << "c lies where b lay";
}

TEST(Peak, SaysWhyAnArrayIsAlive) {
  const Peak peak = PeakOfText(kChain, /*fused=*/true);
  const auto a = std::find_if(peak.largest.begin(), peak.largest.end(),
                              [](const Contributor& array) { return array.name == "a"; });
  ASSERT_NE(a, peak.largest.end());
  EXPECT_EQ(a->last_use, "r");
  EXPECT_EQ(a->bytes, 400);
}

TEST(Peak, ADonatedArgumentIsNotCountedTwice) {
  const Peak peak = PeakOfText(R"(HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  x = f32[10,10] parameter(0)
  y = f32[10,10] parameter(1)
  ROOT r = f32[10,10] add(x, y)
})",
                               true);
  EXPECT_EQ(peak.aliased, 400);
  EXPECT_EQ(peak.total(), 800);
}

TEST(Peak, ALoopsStateIsUpdatedInPlace) {
  const Peak peak = PeakOfText(R"(HloModule m
body {
  s = (s32[], f32[100]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[100] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[100] add(x, x)
  ROOT r = (s32[], f32[100]) tuple(next, y)
}
condition {
  s = (s32[], f32[100]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(1000)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  zero = s32[] constant(0)
  x = f32[100] parameter(0)
  init = (s32[], f32[100]) tuple(zero, x)
  w = (s32[], f32[100]) while(init), condition=condition, body=body
  ROOT y = f32[100] get-tuple-element(w), index=1
})",
                               true);
  EXPECT_LE(peak.temporaries, 16) << "the counter and the condition; the state lies where the result lies";
}

}  // namespace
}  // namespace hlod::analysis
