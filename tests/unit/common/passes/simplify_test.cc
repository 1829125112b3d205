// Simplify: the instructions that are removed, and those that must stay because the last bit depends on them.
#include "tests/unit/common/passes/golden.h"

namespace hlod::passes {
namespace {

std::unique_ptr<hlo::Module> SimplifyAndClean(const hlo::Module& module) {
  return RemoveDead(*Simplify(module));
}

void Expect(const std::string& before, const std::string& after) {
  ExpectBody(&SimplifyAndClean, before, after);
}
void ExpectStays(const std::string& body) { Expect(body, body); }

TEST(Simplify, ReshapesBecomeOne) {
  Expect("x = f32[4,6] parameter(0)\n a = f32[24] reshape(x)\n ROOT b = f32[2,12] reshape(a)",
         "x = f32[4,6] parameter(0)\n ROOT b = f32[2,12] reshape(x)");
  Expect(
      "x = f32[4,6] parameter(0)\n a = f32[24] reshape(x)\n b = f32[4,6] reshape(a)\n ROOT n = f32[4,6] "
      "negate(b)",
      "x = f32[4,6] parameter(0)\n ROOT n = f32[4,6] negate(x)");
}

TEST(Simplify, AReshapedScalarIsABroadcast) {
  Expect("x = f32[] parameter(0)\n a = f32[1] reshape(x)\n ROOT t = f32[1,4] broadcast(a), dimensions={0}",
         "x = f32[] parameter(0)\n ROOT t = f32[1,4] broadcast(x), dimensions={}");
}

TEST(Simplify, TransposesComposeAndVanish) {
  Expect(
      "x = f32[2,3,4] parameter(0)\n a = f32[3,4,2] transpose(x), dimensions={1,2,0}\n"
      " ROOT b = f32[2,3,4] transpose(a), dimensions={2,0,1}",
      "ROOT x = f32[2,3,4] parameter(0)");
  Expect(
      "x = f32[2,3,4] parameter(0)\n a = f32[3,4,2] transpose(x), dimensions={1,2,0}\n"
      " ROOT b = f32[4,2,3] transpose(a), dimensions={1,2,0}",
      "x = f32[2,3,4] parameter(0)\n ROOT b = f32[4,2,3] transpose(x), dimensions={2,0,1}");
  Expect("x = f32[2,1,4] parameter(0)\n ROOT a = f32[1,2,4] transpose(x), dimensions={1,0,2}",
         "x = f32[2,1,4] parameter(0)\n ROOT a = f32[1,2,4] reshape(x)");
}

TEST(Simplify, BroadcastsCompose) {
  Expect(
      "x = f32[3] parameter(0)\n a = f32[3,4] broadcast(x), dimensions={0}\n"
      " ROOT b = f32[3,2,4] broadcast(a), dimensions={0,2}",
      "x = f32[3] parameter(0)\n ROOT b = f32[3,2,4] broadcast(x), dimensions={0}");
  Expect(
      "x = f32[1,64] parameter(0)\n a = f32[1,64] broadcast(x), dimensions={0,1}\n ROOT r = f32[64] "
      "reshape(a)",
      "x = f32[1,64] parameter(0)\n ROOT r = f32[64] reshape(x)");
  Expect(
      "x = f32[] parameter(0)\n a = f32[3,4] broadcast(x), dimensions={}\n b = f32[4,3] transpose(a), "
      "dimensions={1,0}\n"
      " c = f32[12] reshape(b)\n ROOT d = f32[5] slice(c), slice={[2:7]}",
      "x = f32[] parameter(0)\n ROOT d = f32[5] broadcast(x), dimensions={}");
}

TEST(Simplify, WholeSlicesAndEmptyPadsVanish) {
  Expect("x = f32[4] parameter(0)\n ROOT a = f32[4] slice(x), slice={[0:4]}", "ROOT x = f32[4] parameter(0)");
  Expect("x = f32[4] parameter(0)\n v = f32[] parameter(1)\n ROOT a = f32[4] pad(x, v), padding=0_0",
         "ROOT x = f32[4] parameter(0)\n v = f32[] parameter(1)");
  // The size is equal, but the content is not.
  ExpectStays("x = f32[4] parameter(0)\n v = f32[] parameter(1)\n ROOT a = f32[4] pad(x, v), padding=1_-1");
  Expect(
      "x = f32[4] parameter(0)\n i = s32[] parameter(1)\n ROOT a = f32[4] dynamic-slice(x, i), "
      "dynamic_slice_sizes={4}",
      "ROOT x = f32[4] parameter(0)\n i = s32[] parameter(1)");
  Expect("x = f32[4] parameter(0)\n ROOT a = f32[4] concatenate(x), dimensions={0}",
         "ROOT x = f32[4] parameter(0)");
  Expect("x = f32[1,4] parameter(0)\n ROOT a = f32[1,4] reverse(x), dimensions={0}",
         "ROOT x = f32[1,4] parameter(0)");
  ExpectStays("x = f32[1,4] parameter(0)\n ROOT a = f32[1,4] reverse(x), dimensions={1}");
  ExpectStays("x = f32[4] parameter(0)\n ROOT a = f32[2] slice(x), slice={[0:4:2]}");
  Expect(
      "x = f32[] parameter(0)\n i = s32[] parameter(1)\n s = f32[9] broadcast(x), dimensions={}\n"
      " ROOT a = f32[2] dynamic-slice(s, i), dynamic_slice_sizes={2}",
      "x = f32[] parameter(0)\n i = s32[] parameter(1)\n ROOT a = f32[2] broadcast(x), dimensions={}");
}

TEST(Simplify, TuplesAreSeenThrough) {
  Expect(
      "x = f32[4] parameter(0)\n y = f32[2] parameter(1)\n t = (f32[4], f32[2]) tuple(x, y)\n"
      " ROOT g = f32[2] get-tuple-element(t), index=1",
      "x = f32[4] parameter(0)\n ROOT y = f32[2] parameter(1)");
  Expect(
      "t = (f32[4], f32[2]) parameter(0)\n a = f32[4] get-tuple-element(t), index=0\n"
      " b = f32[2] get-tuple-element(t), index=1\n ROOT u = (f32[4], f32[2]) tuple(a, b)",
      "ROOT t = (f32[4], f32[2]) parameter(0)");
  ExpectStays(
      "t = (f32[4], f32[4]) parameter(0)\n a = f32[4] get-tuple-element(t), index=0\n"
      " b = f32[4] get-tuple-element(t), index=1\n ROOT u = (f32[4], f32[4]) tuple(b, a)");
  ExpectStays(
      "t = (f32[4], f32[4]) parameter(0)\n a = f32[4] get-tuple-element(t), index=0\n ROOT u = (f32[4]) "
      "tuple(a)");
}

TEST(Simplify, ConvertsThatLoseNothingVanish) {
  Expect("x = bf16[4] parameter(0)\n a = f32[4] convert(x)\n ROOT b = bf16[4] convert(a)",
         "ROOT x = bf16[4] parameter(0)");
  Expect("x = u8[4] parameter(0)\n a = s32[4] convert(x)\n ROOT b = f32[4] convert(a)",
         "x = u8[4] parameter(0)\n ROOT b = f32[4] convert(x)");
  Expect("x = f32[4] parameter(0)\n ROOT b = f32[4] convert(x)", "ROOT x = f32[4] parameter(0)");
  ExpectStays("x = f32[4] parameter(0)\n a = bf16[4] convert(x)\n ROOT b = f32[4] convert(a)");
  ExpectStays("x = s32[4] parameter(0)\n a = f32[4] convert(x)\n ROOT b = s32[4] convert(a)");
  ExpectStays("x = s8[4] parameter(0)\n a = u8[4] convert(x)\n ROOT b = s32[4] convert(a)");
}

void ExpectNeutral(const std::string& type, const std::string& constant, const std::string& expression) {
  const std::string sources = "x = " + type + "[4] parameter(0)\n c = " + type + "[] constant(" + constant +
                              ")\n b = " + type + "[4] broadcast(c), dimensions={}\n";
  SCOPED_TRACE(expression + " with " + constant);
  Expect(sources + "ROOT r = " + type + "[4] " + expression, "ROOT x = " + type + "[4] parameter(0)");
}
void ExpectNotNeutral(const std::string& type, const std::string& constant, const std::string& expression) {
  const std::string body = "x = " + type + "[4] parameter(0)\n c = " + type + "[] constant(" + constant +
                           ")\n b = " + type + "[4] broadcast(c), dimensions={}\n ROOT r = " + type + "[4] " +
                           expression;
  SCOPED_TRACE(expression + " with " + constant);
  ExpectStays(body);
}

TEST(Simplify, NeutralElementsVanish) {
  ExpectNeutral("f32", "1", "multiply(x, b)");
  ExpectNeutral("f32", "1", "multiply(b, x)");
  ExpectNeutral("f32", "1", "divide(x, b)");
  ExpectNeutral("f32", "0", "subtract(x, b)");
  ExpectNeutral("f32", "-0", "add(x, b)");
  ExpectNeutral("f32", "-inf", "maximum(b, x)");
  ExpectNeutral("bf16", "inf", "minimum(x, b)");
  ExpectNeutral("s32", "0", "add(b, x)");
  ExpectNeutral("s32", "-1", "and(x, b)");
  ExpectNeutral("u8", "255", "and(x, b)");
  ExpectNeutral("u32", "0", "shift-right-logical(x, b)");
  ExpectNeutral("pred", "false", "or(x, b)");
  ExpectNeutral("pred", "true", "and(b, x)");
}

TEST(Simplify, WhatOnlyLooksNeutralStays) {
  ExpectNotNeutral("f32", "0", "add(x, b)");        // The addition turns -0 into 0.
  ExpectNotNeutral("f32", "-0", "subtract(x, b)");  // The subtraction turns -0 into 0.
  ExpectNotNeutral("f32", "0", "multiply(x, b)");  // The replacement would be wrong for NaN, infinity and -0.
  ExpectNotNeutral("f32", "1", "divide(b, x)");
  ExpectNotNeutral("s32", "0", "subtract(b, x)");
  ExpectNotNeutral("s32", "0", "maximum(x, b)");
}

TEST(Simplify, SelectsWithOneOutcomeVanish) {
  Expect("p = pred[4] parameter(0)\n x = f32[4] parameter(1)\n ROOT s = f32[4] select(p, x, x)",
         "p = pred[4] parameter(0)\n ROOT x = f32[4] parameter(1)");
  Expect(
      "x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n p = pred[] constant(false)\n ROOT s = f32[4] "
      "select(p, x, y)",
      "x = f32[4] parameter(0)\n ROOT y = f32[4] parameter(1)");
}

TEST(Simplify, ComplexPartsAreTakenBack) {
  Expect(
      "x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n c = c64[4] complex(x, y)\n ROOT r = f32[4] "
      "imag(c)",
      "x = f32[4] parameter(0)\n ROOT y = f32[4] parameter(1)");
}

TEST(Simplify, MarksForPartitioningVanish) {
  Expect("x = f32[4] parameter(0)\n ROOT s = f32[4] custom-call(x), custom_call_target=\"Sharding\"",
         "ROOT x = f32[4] parameter(0)");
  ExpectStays("x = f32[4] parameter(0)\n ROOT s = f32[4] custom-call(x), custom_call_target=\"mine\"");
}

TEST(Simplify, DotsTakeInTransposes) {
  Expect(
      "x = f32[8,4] parameter(0)\n y = f32[16,8] parameter(1)\n a = f32[4,8] transpose(x), dimensions={1,0}\n"
      " b = f32[8,16] transpose(y), dimensions={1,0}\n"
      " ROOT d = f32[4,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
      "x = f32[8,4] parameter(0)\n y = f32[16,8] parameter(1)\n"
      " ROOT d = f32[4,16] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={1}");
  Expect(
      "x = f32[4,3,8] parameter(0)\n y = f32[3,8,5] parameter(1)\n a = f32[3,4,8] transpose(x), "
      "dimensions={1,0,2}\n"
      " ROOT d = f32[3,4,5] dot(a, y), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
      "rhs_contracting_dims={1}",
      "x = f32[4,3,8] parameter(0)\n y = f32[3,8,5] parameter(1)\n"
      " ROOT d = f32[3,4,5] dot(x, y), lhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
      "rhs_contracting_dims={1}");
  // Two free dimensions are swapped; they determine the order of the result.
  ExpectStays(
      "x = f32[2,3,8] parameter(0)\n y = f32[8] parameter(1)\n a = f32[3,2,8] transpose(x), "
      "dimensions={1,0,2}\n"
      " ROOT d = f32[3,2] dot(a, y), lhs_contracting_dims={2}, rhs_contracting_dims={0}");
}

TEST(Simplify, EqualElementsAreComputedOnce) {
  Expect(
      "x = s32[] parameter(0)\n y = s32[] parameter(1)\n a = s32[8] broadcast(x), dimensions={}\n"
      " b = s32[8] broadcast(y), dimensions={}\n c = s32[8] remainder(a, b)\n"
      " d = pred[8] compare(c, b), direction=LT\n ROOT s = s32[8] select(d, a, c)",
      "x = s32[] parameter(0)\n y = s32[] parameter(1)\n c = s32[] remainder(x, y)\n"
      " d = pred[] compare(c, y), direction=LT\n s = s32[] select(d, x, c)\n"
      " ROOT b = s32[8] broadcast(s), dimensions={}");
  Expect(
      "x = f32[] parameter(0)\n v = f32[4,2] parameter(1)\n a = f32[4,2] broadcast(x), dimensions={}\n"
      " e = f32[4,2] exponential(a)\n ROOT m = f32[4,2] multiply(e, v)",
      "x = f32[] parameter(0)\n v = f32[4,2] parameter(1)\n e = f32[] exponential(x)\n"
      " b = f32[4,2] broadcast(e), dimensions={}\n ROOT m = f32[4,2] multiply(b, v)");
  // Rows are not scalars.
  ExpectStays(
      "x = f32[2] parameter(0)\n a = f32[4,2] broadcast(x), dimensions={1}\n"
      " ROOT e = f32[4,2] exponential(a)");
}

TEST(Simplify, DotsOfOneTermAreProducts) {
  Expect(
      "x = f32[7,1,4] parameter(0)\n y = f32[7,5,1] parameter(1)\n"
      " ROOT d = f32[7,4,5] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, "
      "rhs_contracting_dims={2}",
      "x = f32[7,1,4] parameter(0)\n y = f32[7,5,1] parameter(1)\n a = f32[7,4] reshape(x)\n"
      " b = f32[7,4,5] broadcast(a), dimensions={0,1}\n c = f32[7,5] reshape(y)\n"
      " d = f32[7,4,5] broadcast(c), dimensions={0,2}\n ROOT e = f32[7,4,5] multiply(b, d)");
  Expect("x = s32[3] parameter(0)\n y = s32[4] parameter(1)\n ROOT d = s32[3,4] dot(x, y)",
         "x = s32[3] parameter(0)\n y = s32[4] parameter(1)\n a = s32[3,4] broadcast(x), dimensions={0}\n"
         " b = s32[3,4] broadcast(y), dimensions={1}\n ROOT e = s32[3,4] multiply(a, b)");
  // The sum has another type than the products' operands; batches are in another order.
  ExpectStays(
      "x = s8[3,1] parameter(0)\n y = s8[1,4] parameter(1)\n"
      " ROOT d = s32[3,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  ExpectStays(
      "x = f32[3,7] parameter(0)\n y = f32[7,4] parameter(1)\n"
      " ROOT d = f32[7,3,4] dot(x, y), lhs_batch_dims={1}, rhs_batch_dims={0}");
}

TEST(Simplify, ATransposedDotSwapsItsOperands) {
  Expect(
      "x = f32[8,4] parameter(0)\n y = f32[8,16] parameter(1)\n"
      " d = f32[4,16] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
      " ROOT t = f32[16,4] transpose(d), dimensions={1,0}",
      "x = f32[8,4] parameter(0)\n y = f32[8,16] parameter(1)\n"
      " ROOT d = f32[16,4] dot(y, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}");
  Expect(
      "x = f32[3,8,4,2] parameter(0)\n y = f32[3,8,16] parameter(1)\n"
      " d = f32[3,4,2,16] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, "
      "rhs_contracting_dims={1}\n"
      " ROOT t = f32[3,16,4,2] transpose(d), dimensions={0,3,1,2}",
      "x = f32[3,8,4,2] parameter(0)\n y = f32[3,8,16] parameter(1)\n"
      " ROOT d = f32[3,16,4,2] dot(y, x), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, "
      "rhs_contracting_dims={1}");
  // Another instruction uses the dot unchanged, so the rewrite would compute it twice.
  ExpectStays(
      "x = f32[8,4] parameter(0)\n y = f32[8,16] parameter(1)\n"
      " d = f32[4,16] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
      " t = f32[16,4] transpose(d), dimensions={1,0}\n ROOT u = (f32[4,16], f32[16,4]) tuple(d, t)");
}

TEST(Simplify, AReductionOfOneElementIsThatElement) {
  const std::string add =
      "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n";
  const auto entry = [](const std::string& init) {
    return "ENTRY e {\n x = f32[1,4] parameter(0)\n z = f32[] constant(" + init +
           ")\n"
           " ROOT r = f32[4] reduce(x, z), dimensions={0}, to_apply=add\n}\n";
  };
  ExpectGolden(&SimplifyAndClean, add + entry("0"),
               "ENTRY e {\n x = f32[1,4] parameter(0)\n ROOT r = f32[4] reshape(x)\n}\n");
  ExpectGolden(&SimplifyAndClean, add + entry("1"), add + entry("1"));
}

// Returns a module with a reducer `r` of one operation, the parameters x, y and w, the constant z and `rest`.
std::string ReduceOfThree(const std::string& type, const std::string& operation, const std::string& init,
                          const std::string& rest) {
  const std::string scalar = type + "[] ";
  return "r {\n a = " + scalar + "parameter(0)\n b = " + scalar + "parameter(1)\n ROOT s = " + scalar +
         operation + "(a, b)\n}\nENTRY e {\n x = " + type + "[2,4] parameter(0)\n y = " + type +
         "[2,4] parameter(1)\n w = " + type + "[2,4] parameter(2)\n z = " + scalar + "constant(" + init +
         ")\n" + rest + "\n}\n";
}

TEST(Simplify, AReductionOfConcatenatedArraysCombinesThem) {
  const std::string whole = " c = f32[6,4] concatenate(x, y, w), dimensions={0}\n";
  // The init stays, whatever it is, and so do the other reduced dimensions.
  for (const char* init : {"0", "3"}) {
    ExpectGolden(&SimplifyAndClean,
                 ReduceOfThree("f32", "add", init,
                               whole + " ROOT q = f32[] reduce(c, z), dimensions={0,1}, to_apply=r"),
                 ReduceOfThree("f32", "add", init,
                               " d = f32[2,4] add(x, y)\n f = f32[2,4] add(d, w)\n"
                               " ROOT q = f32[] reduce(f, z), dimensions={0,1}, to_apply=r"));
  }
  // In order: (3e38 + 3e38) + (-3e38 + -3e38) would be NaN, where XLA's sum is inf.
  ExpectGolden(&SimplifyAndClean,
               ReduceOfThree("f32", "add", "0",
                             " c = f32[8,4] concatenate(x, y, w, x), dimensions={0}\n"
                             " ROOT q = f32[4] reduce(c, z), dimensions={0}, to_apply=r"),
               ReduceOfThree("f32", "add", "0",
                             " d = f32[2,4] add(x, y)\n f = f32[2,4] add(d, w)\n g = f32[2,4] add(f, x)\n"
                             " ROOT q = f32[4] reduce(g, z), dimensions={0}, to_apply=r"));
  const auto stays = [](const std::string& module) { ExpectGolden(&SimplifyAndClean, module, module); };
  // The other dimension keeps the arrays apart.
  stays(
      ReduceOfThree("f32", "add", "0", whole + " ROOT q = f32[6] reduce(c, z), dimensions={1}, to_apply=r"));
  // No operation may be repeated in another order.
  stays(ReduceOfThree("f32", "subtract", "0",
                      whole + " ROOT q = f32[4] reduce(c, z), dimensions={0}, to_apply=r"));
  // The concatenation exists anyway.
  stays(ReduceOfThree("f32", "add", "0",
                      whole + " q = f32[4] reduce(c, z), dimensions={0}, to_apply=r\n"
                              " ROOT t = (f32[4], f32[6,4]) tuple(q, c)"));
  stays(ReduceOfThree("f32", "add", "0",
                      " v = f32[1,4] slice(x), slice={[0:1], [0:4]}\n c = f32[5,4] concatenate(x, y, v), "
                      "dimensions={0}\n ROOT q = f32[4] reduce(c, z), dimensions={0}, to_apply=r"));
}

TEST(Simplify, ASumOfNarrowFloatsThatWereConcatenatedRoundsOnce) {
  const std::string pieces =
      " m = bf16[1,2,4] reshape(x)\n n = bf16[1,2,4] reshape(y)\n"
      " c = bf16[2,2,4] concatenate(m, n), dimensions={0}\n";
  ExpectGolden(&SimplifyAndClean,
               ReduceOfThree("bf16", "add", "0",
                             pieces + " ROOT q = bf16[2,4] reduce(c, z), dimensions={0}, to_apply=r"),
               ReduceOfThree("bf16", "add", "0",
                             " m = bf16[1,2,4] reshape(x)\n n = bf16[1,2,4] reshape(y)\n"
                             " g = f32[1,2,4] convert(m)\n h = f32[1,2,4] convert(n)\n"
                             " s = f32[1,2,4] add(g, h)\n t = bf16[1,2,4] convert(s)\n"
                             " ROOT q = bf16[2,4] reduce(t, z), dimensions={0}, to_apply=r"));
  // A part of the sum would be rounded before the rest is added.
  const std::string stays = ReduceOfThree(
      "bf16", "add", "0", pieces + " ROOT q = bf16[4] reduce(c, z), dimensions={0,1}, to_apply=r");
  ExpectGolden(&SimplifyAndClean, stays, stays);
  // An extreme is one of the values.
  ExpectGolden(&SimplifyAndClean,
               ReduceOfThree("bf16", "maximum", "-inf",
                             pieces + " ROOT q = bf16[4] reduce(c, z), dimensions={0,1}, to_apply=r"),
               ReduceOfThree("bf16", "maximum", "-inf",
                             " m = bf16[1,2,4] reshape(x)\n n = bf16[1,2,4] reshape(y)\n"
                             " s = bf16[1,2,4] maximum(m, n)\n"
                             " ROOT q = bf16[4] reduce(s, z), dimensions={0,1}, to_apply=r"));
}

TEST(Simplify, LeavesDynamicDimensionsAlone) {
  ExpectStays("x = f32[<=4] parameter(0)\n ROOT s = f32[<=4] slice(x), slice={[0:4]}");
}

// The gradient of average pooling: each element is repeated. -0 becomes 0, as in the sum.
TEST(Simplify, SumsOfOneElementAmongHoles) {
  const std::string add =
      "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}\n";
  const auto windows = [&](const std::string& pad, const std::string& padded, const std::string& window,
                           const std::string& out) {
    return add + "ENTRY e {\n x = f32[3,4] parameter(0)\n z = f32[] constant(0)\n p = f32[" + padded +
           "] pad(x, z), padding=" + pad + "\n ROOT r = f32[" + out + "] reduce-window(p, z), window={" +
           window + "}, to_apply=add\n}\n";
  };
  const std::string repeated =
      " x = f32[3,4] parameter(0)\n z = f32[] constant(0)\n b = f32[3,4] broadcast(z), dimensions={}\n"
      " s = f32[3,4] add(x, b)\n t = f32[3,2,4,3] broadcast(s), dimensions={0,2}\n";
  const auto simplified = [](const hlo::Module& module) { return RemoveDead(*Simplify(module)); };
  ExpectGolden(simplified, windows("1_1_1x2_2_2", "7,14", "size=2x3", "6,12"),
               "ENTRY e {\n" + repeated + " ROOT r = f32[6,12] reshape(t)\n}\n");
  // Windows without an element at an end, and a row that none has.
  ExpectGolden(simplified, windows("1_2_1x2_2_2", "8,14", "size=2x3 pad=0_0x-1_0", "7,11"),
               "ENTRY e {\n" + repeated +
                   " w = f32[6,12] reshape(t)\n ROOT r = f32[7,11] pad(w, z), padding=0_1_0x-1_0_0\n}\n");
  // Windows of several elements, with strides, and other holes.
  for (const std::string& text : {windows("1_1_0x2_2_2", "5,14", "size=2x3", "4,12"),
                                  windows("1_1_1x2_2_2", "7,14", "size=2x2", "6,13"),
                                  windows("1_1_1x2_2_2", "7,14", "size=2x3 stride=2x1", "3,12")})
    ExpectGolden(simplified, text, text);
}

}  // namespace
}  // namespace hlod::passes
