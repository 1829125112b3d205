// HoistInvariants: which values of a loop are computed before it, and which stay.
#include "common/hlo/builder.h"
#include "tests/unit/common/passes/golden.h"

namespace hlod::passes {
namespace {

std::unique_ptr<hlo::Module> HoistAndClean(const hlo::Module& module) {
  return RemoveDead(*Simplify(*HoistInvariants(module)));
}

// A loop over i, x and a, with `state` as its shape, whose body computes `next` from i, x, a and p.
std::string Loop(const std::string& state, const std::string& body, const std::string& before_loop,
                 const std::string& initial) {
  return "body {\n p = " + state + " parameter(0)\n" + body + "\n}\n" +  //
         "condition {\n q = " + state + " parameter(0)\n k = s32[] get-tuple-element(q), index=0\n" +
         " ten = s32[] constant(10)\n ROOT c = pred[] compare(k, ten), direction=LT\n}\n" +
         "ENTRY e {\n zero = s32[] constant(0)\n x0 = f32[8] parameter(0)\n a0 = f32[8] parameter(1)\n" +
         before_loop + " t = " + state + " tuple(" + initial + ")\n w = " + state +
         " while(t), condition=condition, body=body\n ROOT r = f32[8] get-tuple-element(w), index=1\n}\n";
}
const char kState[] = "(s32[], f32[8], f32[8])", kWide[] = "(s32[], f32[8], f32[8], f32[8])";
const char kVariables[] =
    " i = s32[] get-tuple-element(p), index=0\n x = f32[8] get-tuple-element(p), index=1\n"
    " a = f32[8] get-tuple-element(p), index=2\n";
const char kCount[] = " one = s32[] constant(1)\n j = s32[] add(i, one)\n";

void ExpectStays(const std::string& body, const std::string& root = "tuple(j, m, a)") {
  const std::string all = std::string(kVariables) + body + kCount + " ROOT r = " + kState + " " + root;
  const std::string text = Loop(kState, all, "", "zero, x0, a0");
  ExpectGolden(&HoistAndClean, text, text);
}

TEST(HoistInvariants, AValueOfUnchangedVariablesIsComputedBeforeTheLoop) {
  ExpectGolden(&HoistAndClean,
               Loop(kState,
                    std::string(kVariables) + " n = f32[8] negate(a)\n e = f32[8] exponential(n)\n" +
                        " m = f32[8] multiply(e, x)\n" + kCount + " ROOT r = " + kState + " tuple(j, m, a)",
                    "", "zero, x0, a0"),
               Loop(kWide,
                    std::string(kVariables) + " e = f32[8] get-tuple-element(p), index=3\n" +
                        " m = f32[8] multiply(e, x)\n" + kCount + " ROOT r = " + kWide + " tuple(j, m, a, e)",
                    " n = f32[8] negate(a0)\n h = f32[8] exponential(n)\n", "zero, x0, a0, h"));
}

TEST(HoistInvariants, ViewsStay) {
  ExpectGolden(&HoistAndClean,
               Loop(kState,
                    std::string(kVariables) + " s = f32[1] slice(a), slice={[2:3]}\n l = f32[1] log(s)\n" +
                        " v = f32[] reshape(l)\n b = f32[8] broadcast(v), dimensions={}\n" +
                        " m = f32[8] multiply(b, x)\n" + kCount + " ROOT r = " + kState + " tuple(j, m, a)",
                    "", "zero, x0, a0"),
               Loop("(s32[], f32[8], f32[8], f32[1])",
                    std::string(kVariables) + " l = f32[1] get-tuple-element(p), index=3\n" +
                        " v = f32[] reshape(l)\n b = f32[8] broadcast(v), dimensions={}\n" +
                        " m = f32[8] multiply(b, x)\n" + kCount +
                        " ROOT r = (s32[], f32[8], f32[8], f32[1]) tuple(j, m, a, l)",
                    " s = f32[1] slice(a0), slice={[2:3]}\n h = f32[1] log(s)\n", "zero, x0, a0, h"));
  ExpectStays(
      " s = f32[1] slice(a), slice={[2:3]}\n v = f32[] reshape(s)\n b = f32[8] broadcast(v), dimensions={}\n"
      " m = f32[8] multiply(b, x)\n");
}

TEST(HoistInvariants, WhatTheLoopChangesStays) {
  ExpectStays(" e = f32[8] exponential(x)\n m = f32[8] multiply(e, a)\n");
  // The variables change places.
  ExpectStays(" e = f32[8] exponential(a)\n m = f32[8] multiply(e, x)\n", "tuple(j, a, m)");
}

TEST(HoistInvariants, EffectsAndBarriersStay) {
  ExpectStays(" o = f32[8] opt-barrier(a)\n e = f32[8] exponential(o)\n m = f32[8] multiply(e, x)\n");
  ExpectStays(
      " e = f32[8] custom-call(a), custom_call_target=\"f\", custom_call_has_side_effect=true\n"
      " m = f32[8] multiply(e, x)\n");
}

// The products of all pairs are cheap to compute and as large as 2^20 elements.
TEST(HoistInvariants, CheapValuesDoNotGrow) {
  const std::string state = "(s32[], f32[1024], f32[1024])";
  const std::string text =
      "add {\n u = f32[] parameter(0)\n v = f32[] parameter(1)\n ROOT s = f32[] add(u, v)\n}\n"
      "body {\n p = " +
      state +
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
      " x = f32[1024] get-tuple-element(p), index=1\n a = f32[1024] get-tuple-element(p), index=2\n"
      " b = f32[1024,1024] broadcast(a), dimensions={0}\n c = f32[1024,1024] broadcast(a), dimensions={1}\n"
      " o = f32[1024,1024] multiply(b, c)\n y = f32[1024,1024] broadcast(x), dimensions={1}\n"
      " z = f32[1024,1024] multiply(o, y)\n zero = f32[] constant(0)\n"
      " m = f32[1024] reduce(z, zero), dimensions={1}, to_apply=add\n"
      " one = s32[] constant(1)\n j = s32[] add(i, one)\n ROOT r = " +
      state +
      " tuple(j, m, a)\n}\n"
      "condition {\n q = " +
      state +
      " parameter(0)\n k = s32[] get-tuple-element(q), index=0\n"
      " ten = s32[] constant(10)\n ROOT c = pred[] compare(k, ten), direction=LT\n}\n"
      "ENTRY e {\n t = " +
      state +
      " parameter(0)\n"
      " ROOT w = " +
      state + " while(t), condition=condition, body=body\n}\n";
  ExpectGolden(&HoistAndClean, text, text);
}

// A thread's stack would not hold a call per value.
TEST(HoistInvariants, AChainOfValuesMayBeLong) {
  constexpr int kLength = 500'000;
  const hlo::Shape state =
      hlo::Shape::Tuple({hlo::Shape::Array(hlo::kF32, {8}), hlo::Shape::Array(hlo::kF32, {8})});
  hlo::Module module("long");
  hlo::Builder body(module, "body"), condition(module, "condition"), entry(module, "entry");
  const hlo::Op p = body.Parameter(0, state), a = body.GetTupleElement(p, 1);
  hlo::Op value = a;
  for (int i = 0; i < kLength; ++i) value = value + a;
  const hlo::Op next[] = {body.GetTupleElement(p, 0) * value, a};
  ASSERT_TRUE(body.Build(body.Tuple(next)).ok());
  condition.Parameter(0, state);
  ASSERT_TRUE(condition.Build(condition.Constant(hlo::Literal::Scalar(false))).ok());
  ASSERT_TRUE(entry.Build(entry.While(entry.Parameter(0, state), condition.id(), body.id())).ok());
  EXPECT_GT(HoistInvariants(module)->entry().size(), static_cast<size_t>(kLength));
}

}  // namespace
}  // namespace hlod::passes
