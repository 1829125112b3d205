// Peaks of small programs, computed by hand.
#include "client/analysis/module/peak.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/hlo/text/text.h"

namespace hlod::analysis {
namespace {

Peak PeakOfText(const std::string& text, bool fused, Compiler compiler = Compiler::kXlaCpu) {
  const auto module = hlo::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return PeakOf(**module, PlacementOptions{.compiler = compiler, .fused = fused}).value();
}

// An array is 400 bytes; a temporary takes 448, because it is aligned to 64.
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
  EXPECT_EQ(peak.temporaries, 2 * 448) << "a and d; b is computed inside c, which lies where r will";
  EXPECT_EQ(peak.at, "d");
  EXPECT_EQ(peak.total(), 400 + 400 + 2 * 448);
}

TEST(Peak, AnElementwiseResultTakesOverItsOperand) {
  const Peak peak = PeakOfText(kChain, /*fused=*/false);
  EXPECT_EQ(peak.temporaries, 2 * 448) << "c lies where b lay, where r will";
}

TEST(Peak, SaysWhyAnArrayIsAlive) {
  const Peak peak = PeakOfText(kChain, /*fused=*/true);
  const auto a = std::find_if(peak.largest.begin(), peak.largest.end(),
                              [](const Contributor& array) { return array.name == "a"; });
  ASSERT_NE(a, peak.largest.end());
  EXPECT_EQ(a->last_use, "r");
  EXPECT_EQ(a->bytes, 448);
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
  EXPECT_LE(peak.temporaries, 4 * 64)
      << "counters, the condition and the state's table of pointers; the state "
         "lies where the result lies";
}

// In XLA's CPU backend, output_size_in_bytes of a tuple includes 8 bytes per element. Two sums that both
// begin as the same zeros need two arrays while the loop runs.
TEST(Peak, ALoopsStatesThatBeginAsOneArrayTakeTwo) {
  const Peak peak = PeakOfText(R"(HloModule m
body {
  p = (s32[], f32[10,10], f32[10,10], f32[10,10]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  a = f32[10,10] get-tuple-element(p), index=1
  b = f32[10,10] get-tuple-element(p), index=2
  x = f32[10,10] get-tuple-element(p), index=3
  one = s32[] constant(1)
  j = s32[] add(i, one)
  c = f32[10,10] add(a, x)
  d = f32[10,10] multiply(b, x)
  ROOT r = (s32[], f32[10,10], f32[10,10], f32[10,10]) tuple(j, c, d, x)
}
cond {
  p = (s32[], f32[10,10], f32[10,10], f32[10,10]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  ten = s32[] constant(10)
  ROOT r = pred[] compare(i, ten), direction=LT
}
ENTRY e {
  x = f32[10,10] parameter(0)
  zero = f32[] constant(0)
  z = f32[10,10] broadcast(zero), dimensions={}
  i = s32[] constant(0)
  t = (s32[], f32[10,10], f32[10,10], f32[10,10]) tuple(i, z, z, x)
  w = (s32[], f32[10,10], f32[10,10], f32[10,10]) while(t), condition=cond, body=body
  a = f32[10,10] get-tuple-element(w), index=1
  b = f32[10,10] get-tuple-element(w), index=2
  ROOT r = f32[10,10] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})",
                               /*fused=*/true);
  EXPECT_GE(peak.temporaries, 2 * 448);
  EXPECT_LT(peak.temporaries, 3 * 448);
}

TEST(Peak, ATupleHasATableOfPointers) {
  const Peak peak = PeakOfText(R"(HloModule m
ENTRY e {
  x = f32[16] parameter(0)
  a = f32[16] negate(x)
  b = f32[16] sine(x)
  ROOT r = (f32[16], f32[16]) tuple(a, b)
})",
                               true);
  EXPECT_EQ(peak.results, 2 * 64 + 2 * 8);
}

// Each iteration reads the weights of 4 layers of 1024 bytes; the zeros become the stacked result.
constexpr char kStack[] = R"(HloModule m
body {
  s = (s32[], f32[4,256], f32[4,256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  w = f32[4,256] get-tuple-element(s), index=1
  y = f32[4,256] get-tuple-element(s), index=2
  one = s32[] constant(1)
  zero = s32[] constant(0)
  next = s32[] add(i, one)
  layer = f32[1,256] dynamic-slice(w, i, zero), dynamic_slice_sizes={1,256}
  new = f32[4,256] dynamic-update-slice(y, layer, i, zero)
  ROOT r = (s32[], f32[4,256], f32[4,256]) tuple(next, w, new)
}
condition {
  s = (s32[], f32[4,256], f32[4,256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  zero = s32[] constant(0)
  w = f32[4,256] parameter(0)
  nought = f32[] constant(0)
  zeros = f32[4,256] broadcast(nought), dimensions={}
  init = (s32[], f32[4,256], f32[4,256]) tuple(zero, w, zeros)
  loop = (s32[], f32[4,256], f32[4,256]) while(init), condition=condition, body=body
  ROOT y = f32[4,256] get-tuple-element(loop), index=2
})";

TEST(Peak, WhatALoopOnlyReadsIsNotCopiedAndItsResultIsMadeInPlace) {
  const Peak peak = PeakOfText(kStack, true);
  EXPECT_EQ(peak.arguments, 4096);
  EXPECT_EQ(peak.results, 4096);
  EXPECT_LT(peak.temporaries, 2048) << "neither w nor the zeros are there a second time";
}

// XLA's CPU backend does this for attention: it transposes the heads to the first dimension, in both
// operands.
TEST(Peak, AProductCopiesWhatDoesNotLieInItsOrder) {
  const auto peak = [](const std::string& shape, const std::string& batch) {
    return PeakOfText("HloModule m\nENTRY e {\n  q = " + shape + " parameter(0)\n  k = " + shape +
                          " parameter(1)\n  ROOT d = f32[4,16,16] dot(q, k), lhs_batch_dims={" + batch +
                          "}, rhs_batch_dims={" + batch +
                          "}, lhs_contracting_dims={2}, rhs_contracting_dims={2}\n}",
                      true);
  };
  EXPECT_EQ(peak("f32[16,4,64]", "1").temporaries, 2 * 16 * 4 * 64 * 4);
  EXPECT_EQ(peak("f32[4,16,64]", "0").temporaries, 0);
}

// XLA's list of expensive operations has the division of floats, but not products or sines.
TEST(Peak, WhatIsExpensiveIsStoredForItsSecondUser) {
  const auto temporaries = [](const std::string& made, Compiler compiler = Compiler::kAccelerator) {
    return PeakOfText(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[16,16] parameter(0)
  y = )" + made + R"(
  zero = f32[] constant(0)
  r = f32[16] reduce(y, zero), dimensions={0}, to_apply=sum
  c = f32[16] reduce(y, zero), dimensions={1}, to_apply=sum
  ROOT t = (f32[16], f32[16]) tuple(r, c)
})",
                      true, compiler)
        .temporaries;
  };
  EXPECT_EQ(temporaries("f32[16,16] divide(x, x)"), 1024);
  EXPECT_EQ(temporaries("f32[16,16] exponential(x)"), 1024);
  EXPECT_EQ(temporaries("f32[16,16] multiply(x, x)"), 0);
  EXPECT_EQ(temporaries("f32[16,16] sine(x)"), 0);
  EXPECT_EQ(temporaries("f32[16,16] sine(x)", Compiler::kXlaCpu), 0);
}

// XLA plans 16,384 bytes: its library's sums of 4,096 elements or more read from memory what two of them use.
TEST(Peak, LargeSumsOfXlasLibraryReadFromMemory) {
  const Peak peak = PeakOfText(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[64,64] parameter(0)
  y = f32[64,64] sine(x)
  zero = f32[] constant(0)
  r = f32[64] reduce(y, zero), dimensions={0}, to_apply=sum
  c = f32[64] reduce(y, zero), dimensions={1}, to_apply=sum
  ROOT t = (f32[64], f32[64]) tuple(r, c)
})",
                               true);
  EXPECT_EQ(peak.temporaries, 16384);
}

TEST(Peak, ASortOfSeveralArraysLiesWhereTheyLay) {
  const Peak peak = PeakOfText(R"(HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT l = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[1024] parameter(0)
  k = f32[1024] reverse(x), dimensions={0}
  i = s32[1024] iota(), iota_dimension=0
  j = s32[1024] reverse(i), dimensions={0}
  s = (f32[1024], s32[1024]) sort(k, j), dimensions={0}, to_apply=less
  v = f32[1024] get-tuple-element(s), index=0
  ROOT r = f32[1024] reverse(v), dimensions={0}
})",
                               true);
  EXPECT_LT(peak.temporaries, 3 * 4096) << "two arrays, not four";
}

}  // namespace
}  // namespace hlod::analysis
