// Plans of small programs, beside XLA's: temp_size_in_bytes of jaxlib 0.10.2's memory_analysis().
#include <gtest/gtest.h>

#include <string>

#include "client/analysis/module/memory/alignment.h"
#include "client/analysis/module/peak.h"
#include "common/hlo/text/text.h"

namespace hlod::analysis {
namespace {

// Returns XLA's figure, which ends with the last array's last byte, as the estimate has it.
int64_t Rounded(int64_t bytes) { return AlignedBytes(bytes); }

int64_t PlannedTemporaries(const std::string& text) {
  return PeakOf(*hlo::ParseModule("HloModule m\n" + text).value()).value().temporaries;
}

constexpr char kAdd[] = R"(add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}
)";

// 8 maxima, in whose memory the sums are then.
TEST(CpuPlan, SmallReductionsAreLoops) {
  EXPECT_EQ(PlannedTemporaries(std::string(kAdd) + R"(max { p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] maximum(p, q) }
ENTRY e {
  x = f32[8,16] parameter(0)
  zero = f32[] constant(0)
  low = f32[] constant(-inf)
  m = f32[8] reduce(x, low), dimensions={1}, to_apply=max
  b = f32[8,16] broadcast(m), dimensions={0}
  s = f32[8,16] subtract(x, b)
  e = f32[8,16] exponential(s)
  t = f32[8] reduce(e, zero), dimensions={1}, to_apply=add
  c = f32[8,16] broadcast(t), dimensions={0}
  ROOT r = f32[8,16] divide(e, c)
})"),
            Rounded(32));
}

// The squares, which pieces of 32 are read from, and 3x35 sums of pieces.
TEST(CpuPlan, ALongSmallReductionIsOneOfPieces) {
  EXPECT_EQ(PlannedTemporaries(std::string(kAdd) + R"(ENTRY e {
  x = f32[3,1100] parameter(0)
  y = f32[3,1100] multiply(x, x)
  zero = f32[] constant(0)
  ROOT m = f32[3] reduce(y, zero), dimensions={1}, to_apply=add
})"),
            Rounded(13648));
}

// The exponentials: what multiplies them by the reciprocals of their sums stores the product in their place.
// A kernel that divided inside of the library's would not store it.
TEST(CpuPlan, ASoftmaxIsMultipliedByReciprocalsBeforeTheProduct) {
  EXPECT_EQ(PlannedTemporaries(std::string(kAdd) + R"(ENTRY e {
  q = f32[512,512] parameter(0)
  k = f32[512,512] parameter(1)
  v = f32[8,512] parameter(2)
  d = f32[512,512] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  p = f32[512,512] exponential(d)
  zero = f32[] constant(0)
  s = f32[512] reduce(p, zero), dimensions={1}, to_apply=add
  b = f32[512,512] broadcast(s), dimensions={0}
  n = f32[512,512] divide(p, b)
  ROOT r = f32[8,512] dot(v, n), lhs_contracting_dims={1}, rhs_contracting_dims={1}
})"),
            Rounded(1048576));
}

// Both operands and the result in the kernel's order.
TEST(CpuPlan, AConvolutionReadsTransposedOperands) {
  EXPECT_EQ(PlannedTemporaries(R"(ENTRY e {
  x = f32[4,16,16,3] parameter(0)
  k = f32[4,16,16,5] parameter(1)
  ROOT c = f32[3,3,3,5] convolution(x, k), window={size=16x16 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf
})"),
            Rounded(33308));
}

// The sum, which a product needs in memory.
TEST(CpuPlan, WhatReadsTwoArraysIsNotComputedTwice) {
  EXPECT_EQ(PlannedTemporaries(R"(ENTRY e {
  x = f32[16,32] parameter(0)
  y = f32[16,32] parameter(1)
  w = f32[32,8] parameter(2)
  s = f32[16,32] add(x, y)
  d = f32[16,8] dot(s, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  n = f32[16,32] negate(s)
  t = f32[32,16] transpose(n), dimensions={1,0}
  ROOT r = (f32[16,8], f32[32,16]) tuple(d, t)
})"),
            2048);
}

// 4x3 rows of 16, and their totals.
TEST(CpuPlan, ARunningTotalIsOneOfRows) {
  EXPECT_EQ(PlannedTemporaries(std::string(kAdd) + R"(ENTRY e {
  x = f32[4,40] parameter(0)
  zero = f32[] constant(0)
  ROOT c = f32[4,40] reduce-window(x, zero), window={size=1x40 pad=0_0x39_0}, to_apply=add
})"),
            1536);
}

// Two indices per element of 8x12, then per window, and the window's values.
TEST(CpuPlan, ASelectAndScatterFindsPlacesFirst) {
  EXPECT_EQ(PlannedTemporaries(std::string(kAdd) + R"(ge { p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = pred[] compare(p, q), direction=GE }
ENTRY e {
  x = f32[8,12] parameter(0)
  s = f32[4,6] parameter(1)
  zero = f32[] constant(0)
  ROOT c = f32[8,12] select-and-scatter(x, s, zero), window={size=2x2 stride=2x2}, select=ge, scatter=add
})"),
            Rounded(1304));
}

// The operand in f32.
TEST(CpuPlan, AScatterOfBF16IsOneOfF32) {
  EXPECT_EQ(PlannedTemporaries(R"(add { p = bf16[] parameter(0)
  q = bf16[] parameter(1)
  ROOT r = bf16[] add(p, q) }
ENTRY e {
  x = bf16[32,8] parameter(0)
  i = s32[4,1] parameter(1)
  u = bf16[4,8] parameter(2)
  ROOT s = bf16[32,8] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
})"),
            1024);
}

// The operand in f32.
TEST(CpuPlan, ASortOfBF16IsOneOfF32) {
  EXPECT_EQ(PlannedTemporaries(R"(lt { p = bf16[] parameter(0)
  q = bf16[] parameter(1)
  ROOT r = pred[] compare(p, q), direction=LT }
ENTRY e {
  x = bf16[32,8] parameter(0)
  ROOT s = bf16[32,8] sort(x), dimensions={0}, to_apply=lt
})"),
            1024);
}

}  // namespace
}  // namespace hlod::analysis
