// NarrowSlices computes parts of elementwise results, and leaves others whole.
#include "tests/unit/common/passes/golden.h"

namespace hlod::passes {
namespace {

std::unique_ptr<hlo::Module> NarrowAndClean(const hlo::Module& module) {
  return RemoveDead(*NarrowSlices(module));
}

void ExpectNarrowed(const std::string& before, const std::string& after) {
  ExpectBody(&NarrowAndClean, before, after);
}

TEST(NarrowSlices, AChainIsComputedOnItsSlice) {
  ExpectNarrowed(
      "x = f32[9] parameter(0)\n a = f32[9] exponential(x)\n b = f32[9] negate(a)\n"
      " ROOT r = f32[3] slice(b), slice={[1:7:2]}",
      "x = f32[9] parameter(0)\n s = f32[3] slice(x), slice={[1:7:2]}\n a = f32[3] exponential(s)\n"
      " ROOT b = f32[3] negate(a)");
}

TEST(NarrowSlices, EqualSlicesOfAnOperandAreOne) {
  ExpectNarrowed(
      "x = f32[9] parameter(0)\n a = f32[9] exponential(x)\n b = f32[9] multiply(a, x)\n"
      " p = f32[4] slice(b), slice={[0:4]}\n q = f32[4] slice(a), slice={[0:4]}\n ROOT r = f32[4] add(p, q)",
      "x = f32[9] parameter(0)\n s = f32[4] slice(x), slice={[0:4]}\n a = f32[4] exponential(s)\n"
      " b = f32[4] multiply(a, s)\n ROOT r = f32[4] add(b, a)");
}

TEST(NarrowSlices, ScalarsStayWholeAndTypesChange) {
  ExpectNarrowed(
      "x = s32[2,8] parameter(0)\n lo = s32[] parameter(1)\n hi = s32[] parameter(2)\n"
      " a = s32[2,8] clamp(lo, x, hi)\n b = f32[2,8] convert(a)\n ROOT r = f32[1,8] slice(b), slice={[1:2], [0:8]}",
      "x = s32[2,8] parameter(0)\n lo = s32[] parameter(1)\n hi = s32[] parameter(2)\n"
      " s = s32[1,8] slice(x), slice={[1:2], [0:8]}\n a = s32[1,8] clamp(lo, s, hi)\n ROOT b = f32[1,8] convert(a)");
}

TEST(NarrowSlices, ABroadcastIsSlicedAlongTheDimensionsOfItsOperand) {
  ExpectNarrowed(
      "x = f32[6,8] parameter(0)\n v = f32[6] parameter(1)\n w = f32[8] parameter(2)\n"
      " a = f32[6,8] broadcast(v), dimensions={0}\n b = f32[6,8] broadcast(w), dimensions={1}\n"
      " c = f32[6,8] multiply(x, a)\n d = f32[6,8] add(c, b)\n"
      " ROOT r = f32[2,8] slice(d), slice={[4:6], [0:8]}",
      "x = f32[6,8] parameter(0)\n v = f32[6] parameter(1)\n w = f32[8] parameter(2)\n"
      " t = f32[2] slice(v), slice={[4:6]}\n a = f32[2,8] broadcast(t), dimensions={0}\n"
      " b = f32[2,8] broadcast(w), dimensions={1}\n s = f32[2,8] slice(x), slice={[4:6], [0:8]}\n"
      " c = f32[2,8] multiply(s, a)\n ROOT d = f32[2,8] add(c, b)");
}

TEST(NarrowSlices, WhatIsUsedInSeveralWaysStaysWhole) {
  for (const char* body :
       {"x = f32[8] parameter(0)\n a = f32[8] exponential(x)\n p = f32[4] slice(a), slice={[0:4]}\n"
        " q = f32[4] slice(a), slice={[4:8]}\n ROOT r = f32[4] add(p, q)",
        "x = f32[8] parameter(0)\n a = f32[8] exponential(x)\n p = f32[4] slice(a), slice={[0:4]}\n"
        " ROOT r = (f32[8], f32[4]) tuple(a, p)",
        "x = f32[8] parameter(0)\n ROOT p = f32[4] slice(x), slice={[0:4]}"}) {
    ExpectNarrowed(body, body);
  }
}

}  // namespace
}  // namespace hlod::passes
