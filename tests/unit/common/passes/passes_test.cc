// The other passes, and the whole pipeline.
#include <gmock/gmock.h>

#include "common/evaluator/evaluator.h"
#include "common/hlo/builder.h"
#include "tests/unit/common/passes/golden.h"

namespace hlod::passes {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const char kAddComputation[] =
    "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n";

TEST(DropLayouts, KeepsThemForTheEntrysCallers) {
  const auto module =
      Parsed("ENTRY e {\n x = f32[2,3]{0,1} parameter(0)\n ROOT n = f32[2,3]{0,1} negate(x)\n}\n");
  const auto result = DropLayouts(*module).value();
  EXPECT_EQ(hlo::ToString(result->entry().root().shape()), "f32[2,3]");
  EXPECT_EQ(hlo::ToString(result->config.entry_layout.parameters[0]), "f32[2,3]{0,1}");
  EXPECT_EQ(hlo::ToString(result->config.entry_layout.result), "f32[2,3]{0,1}");
}

// Returns the numbers 0, 1, ... in an array of this shape under a bitcast, computed by DropLayouts and by the
// evaluator.
std::string Bitcasted(const std::string& from, const std::string& to) {
  const std::string text = "f {\n x = " + from + " parameter(0)\n ROOT b = " + to +
                           " bitcast(x)\n}\nENTRY e {\n x = " + from + " parameter(0)\n ROOT f = " + to +
                           " fusion(x), kind=kLoop, calls=f\n}\n";
  const auto module = Parsed(text.c_str());
  const auto plain = DropLayouts(*module);
  if (!plain.ok()) return std::string(plain.status().message());
  EXPECT_TRUE(hlo::Verify(**plain).ok()) << hlo::ToText(**plain);
  hlo::Literal numbers(module->entry().program_shape().parameters[0]);
  for (int32_t i = 0; i < numbers.element_count(); ++i) numbers.data<int32_t>()[i] = i;
  const auto direct = Evaluate(*module, {&numbers}), written_out = Evaluate(**plain, {&numbers});
  EXPECT_TRUE(direct.ok()) << direct.status();
  EXPECT_TRUE(written_out.ok()) << written_out.status();
  EXPECT_EQ(hlo::ToText(*direct), hlo::ToText(*written_out));
  return hlo::ToText(*direct);
}

// Worked out by hand: the place of each element in memory, and the element that the other layout has there.
TEST(DropLayouts, ABitcastReadsMemoryByTheOtherLayout) {
  EXPECT_EQ(Bitcasted("s32[2,3]{1,0}", "s32[3,2]{0,1}"), "{ {0, 3}, {1, 4}, {2, 5} }");
  EXPECT_EQ(Bitcasted("s32[2,3]{0,1}", "s32[3,2]{1,0}"), "{ {0, 3}, {1, 4}, {2, 5} }");
  EXPECT_EQ(Bitcasted("s32[2,3]{1,0}", "s32[2,3]{0,1}"), "{ {0, 2, 4}, {1, 3, 5} }");
  EXPECT_EQ(Bitcasted("s32[2,3]{0,1}", "s32[6]{0}"), "{0, 3, 1, 4, 2, 5}");
  EXPECT_EQ(Bitcasted("s32[2,3]{1,0}", "s32[3,2]{1,0}"), "{ {0, 1}, {2, 3}, {4, 5} }");
  EXPECT_EQ(Bitcasted("s32[2,1,3]{0,2,1}", "s32[3,2]{1,0}"), "{ {0, 3}, {1, 4}, {2, 5} }");
}

// [4,4] with tiles of (2,2) is stored as [2,2,2,2]: its first four elements are the corner.
TEST(DropLayouts, ABitcastReadsMemoryByTiles) {
  EXPECT_EQ(Bitcasted("s32[4,4]{1,0:T(2,2)}", "s32[16]{0}"),
            "{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}");
  EXPECT_EQ(Bitcasted("s32[1,4]{1,0:T(2,2)}", "s32[4,1]{0,1:T(2,2)}"), "{ {0}, {1}, {2}, {3} }");
  EXPECT_THAT(Bitcasted("s32[3,4]{1,0:T(2,2)}", "s32[12]{0}"),
              HasSubstr("A bitcast from s32[3,4]{1,0:T(2,2)} to s32[12]{0} is not run: its tiles pad"));
}

// Little endian: the bytes of 0x04030201, column by column.
TEST(DropLayouts, ABitcastMayChangeTheType) {
  const auto module = Parsed(
      "ENTRY e {\n c = s32[1,2]{1,0} constant({{67305985, 134678021}})\n ROOT b = u8[4,2]{0,1} "
      "bitcast(c)\n}\n");
  const auto plain = DropLayouts(*module);
  ASSERT_TRUE(plain.ok()) << plain.status();
  for (const hlo::Module* form : {module.get(), plain->get()}) {
    EXPECT_EQ(hlo::ToText(*Evaluate(*form, {})), "{ {1, 5}, {2, 6}, {3, 7}, {4, 8} }");
  }
}

TEST(InlineCalls, PutsTheBodyInPlaceOfTheCall) {
  ExpectGolden(
      &InlineCalls,
      "f {\n a = f32[4] parameter(1)\n b = f32[4] parameter(0)\n ROOT s = f32[4] subtract(a, b)\n}\n"
      "g {\n a = f32[4] parameter(0)\n c = f32[4] call(a, a), to_apply=f\n ROOT n = f32[4] negate(c)\n}\n"
      "ENTRY e {\n x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n c = f32[4] call(x, y), to_apply=f\n"
      " d = f32[4] call(c), to_apply=g\n ROOT r = f32[4] abs(d)\n}\n",
      "f {\n a = f32[4] parameter(1)\n b = f32[4] parameter(0)\n ROOT s = f32[4] subtract(a, b)\n}\n"
      "g {\n a = f32[4] parameter(0)\n c = f32[4] subtract(a, a)\n ROOT n = f32[4] negate(c)\n}\n"
      "ENTRY e {\n x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n c = f32[4] subtract(y, x)\n"
      " d = f32[4] subtract(c, c)\n f = f32[4] negate(d)\n ROOT r = f32[4] abs(f)\n}\n");
}

TEST(InlineCalls, ACallOfAParameterIsTheArgument) {
  ExpectGolden([](const hlo::Module& m) { return RemoveDead(*InlineCalls(m)); },
               "f {\n ROOT a = f32[4] parameter(0)\n}\nENTRY e {\n x = f32[4] parameter(0)\n ROOT c = f32[4] "
               "call(x), to_apply=f\n}\n",
               "ENTRY e {\n ROOT x = f32[4] parameter(0)\n}\n");
}

TEST(InlineCalls, DoublingCallsStayWithinTheBudget) {
  hlo::Module module("m");
  constexpr hlo::ComputationId kLevels = 50;
  for (hlo::ComputationId c = 0; c < kLevels; ++c) {
    hlo::Builder b(module, absl::StrCat("f", c));
    const hlo::Op x = b.Parameter(0, hlo::Shape::Scalar(hlo::kF32));
    const hlo::Op y = c == 0 ? b.Unary(hlo::kNegate, x) : b.Call({b.Call({x}, c - 1)}, c - 1);
    ASSERT_TRUE(b.Build(y).ok());
  }
  const auto result = InlineCalls(module);
  EXPECT_LE(result->instruction_count(), 500'000 + 9 * module.instruction_count());
  EXPECT_TRUE(hlo::Verify(*result, {.instructions_max = 10'000'000}).ok());
}

TEST(RemoveDead, KeepsParametersAndSideEffects) {
  ExpectGolden(&RemoveDead,
               std::string(kAddComputation) +
                   "ENTRY e {\n x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n z = f32[] constant(0)\n"
                   " d = f32[] reduce(x, z), dimensions={0}, to_apply=add\n"
                   " p = () custom-call(y), custom_call_target=\"print\", custom_call_has_side_effect=true\n"
                   " ROOT n = f32[4] negate(x)\n}\n",
               "ENTRY e {\n x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n"
               " p = () custom-call(y), custom_call_target=\"print\", custom_call_has_side_effect=true\n"
               " ROOT n = f32[4] negate(x)\n}\n");
}

TEST(RemoveDead, ALoopWithASideEffectIsAlive) {
  const std::string text =
      "body {\n s = s32[] parameter(0)\n p = () custom-call(s), custom_call_target=\"print\", "
      "custom_call_has_side_effect=true\n"
      " one = s32[] constant(1)\n ROOT n = s32[] add(s, one)\n}\n"
      "cond {\n s = s32[] parameter(0)\n ten = s32[] constant(10)\n ROOT l = pred[] compare(s, ten), "
      "direction=LT\n}\n"
      "ENTRY e {\n x = s32[] parameter(0)\n w = s32[] while(x), condition=cond, body=body\n ROOT n = s32[] "
      "negate(x)\n}\n";
  ExpectGolden(&RemoveDead, text, text);
}

TEST(MergeEqual, MergesInstructionsAndTheirUsers) {
  ExpectBody(
      &MergeEqual,
      "x = f32[4] parameter(0)\n a = f32[4] negate(x)\n b = f32[4] negate(x)\n c = f32[4] abs(a)\n d = "
      "f32[4] abs(b)\n"
      " ROOT r = f32[4] add(c, d)",
      "x = f32[4] parameter(0)\n a = f32[4] negate(x)\n c = f32[4] abs(a)\n ROOT r = f32[4] add(c, c)");
}

TEST(MergeEqual, MergesEqualReducers) {
  const std::string second =
      "add2 {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n";
  const std::string entry = " x = f32[4] parameter(0)\n z = f32[] constant(0)\n";
  ExpectGolden(
      &MergeEqual,
      kAddComputation + second + "ENTRY e {\n" + entry +
          " r = f32[] reduce(x, z), dimensions={0}, to_apply=add\n" +
          " q = f32[] reduce(x, z), dimensions={0}, to_apply=add2\n ROOT s = f32[] subtract(r, q)\n}\n",
      kAddComputation + ("ENTRY e {\n" + entry + " r = f32[] reduce(x, z), dimensions={0}, to_apply=add\n" +
                         " ROOT s = f32[] subtract(r, r)\n}\n"));
}

TEST(MergeEqual, KeepsRandomNumbersEffectsAndBarriersApart) {
  for (const char* twice : {"rng(l, h), distribution=rng_uniform", "custom-call(l), custom_call_target=\"x\"",
                            "opt-barrier(l)"}) {
    const std::string body = std::string(" l = f32[] parameter(0)\n h = f32[] parameter(1)\n a = f32[] ") +
                             twice + "\n b = f32[] " + twice + "\n ROOT s = f32[] subtract(a, b)";
    ExpectBody(&MergeEqual, body, body);
  }
}

TEST(FoldConstants, ComputesOnConstants) {
  ExpectBody([](const hlo::Module& m) { return RemoveDead(*FoldConstants(m)); },
             "a = f32[2] constant({1, 2})\n b = f32[2] constant({3, 5})\n ROOT s = f32[2] add(a, b)",
             "ROOT s = f32[2] constant({4, 7})");
  ExpectBody(
      [](const hlo::Module& m) { return RemoveDead(*FoldConstants(m)); },
      "i = s32[3] iota(), iota_dimension=0\n c = s32[] constant(1)\n b = s32[3] broadcast(c), dimensions={}\n"
      " ROOT p = pred[3] compare(i, b), direction=GE",
      "ROOT p = pred[3] constant({false, true, true})");
}

TEST(FoldConstants, EqualElementsBecomeABroadcast) {
  ExpectBody(
      [](const hlo::Module& m) { return RemoveDead(*FoldConstants(m)); },
      "c = f32[] constant(2)\n b = f32[8] broadcast(c), dimensions={}\n ROOT m = f32[8] multiply(b, b)",
      "c = f32[] constant(4)\n ROOT b = f32[8] broadcast(c), dimensions={}");
}

TEST(FoldConstants, LeavesLargeAndUnknownValues) {
  const std::string large =
      "c = f32[] constant(2)\n b = f32[20000] broadcast(c), dimensions={}\n ROOT m = f32[20000] multiply(b, "
      "b)";
  ExpectBody(&FoldConstants, large, large);
  const std::string unknown =
      "x = f32[] parameter(0)\n c = f32[] constant(2)\n ROOT m = f32[] multiply(x, c)";
  ExpectBody(&FoldConstants, unknown, unknown);
}

TEST(RunPipeline, LeavesOnlyWhatIsNeeded) {
  const auto module = Parsed(
      "f {\n a = f32[4]{0} parameter(0)\n c = f32[] constant(1)\n o = f32[4]{0} broadcast(c), dimensions={}\n"
      " m = f32[4]{0} multiply(a, o)\n r = f32[2,2]{1,0} reshape(m)\n ROOT b = f32[4]{0} reshape(r)\n}\n"
      "ENTRY e {\n x = f32[4]{0} parameter(0)\n t = (f32[4]{0}) tuple(x)\n o = (f32[4]{0}) opt-barrier(t)\n"
      " g = f32[4]{0} get-tuple-element(o), index=0\n c = f32[4]{0} call(g), to_apply=f\n d = f32[4]{0} "
      "call(g), to_apply=f\n"
      " ROOT s = f32[4]{0} add(c, d)\n}\n");
  const auto result = RunPipeline(*module);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(hlo::Verify(**result).ok()) << hlo::Verify(**result);
  EXPECT_EQ(Nameless(**result),
            Nameless(*Parsed("ENTRY e {\n x = f32[4] parameter(0)\n ROOT s = f32[4] add(x, x)\n}\n")));
}

TEST(RunPipeline, WhatIsRecomputedOnPurposeStaysSo) {
  const auto module = Parsed(
      "ENTRY e {\n x = f32[4] parameter(0)\n a = f32[4] exponential(x)\n o = f32[4] opt-barrier(x)\n b = "
      "f32[4] exponential(o)\n"
      " ROOT s = f32[4] subtract(a, b)\n}\n");
  const auto result = RunPipeline(*module);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ((*result)->instruction_count(), 4);
}

TEST(RunPipeline, KeepsSignatureAliasesAndDonors) {
  const auto module = Parsed(
      "ENTRY e {\n x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n n = f32[4] negate(x)\n"
      " ROOT t = (f32[4], f32[4]) tuple(n, y)\n}\n");
  module->config.input_output_alias = {{{0}, 0, {}, true}};
  module->config.buffer_donors = {{1, {}}};
  const auto result = RunPipeline(*module);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ((*result)->config.input_output_alias, module->config.input_output_alias);
  EXPECT_EQ((*result)->config.buffer_donors, module->config.buffer_donors);
  EXPECT_EQ((*result)->entry().parameters().size(), 2u);
}

// Each pass checks the watch while it walks over many instructions; when it stops, the pipeline stops.
TEST(RunPipeline, StopsInsideOfEachPass) {
  constexpr int kInstructions = 20'000;
  hlo::Module module("m");
  hlo::Builder f(module, "f");
  hlo::Op y = f.Parameter(0, hlo::Shape::Scalar(hlo::kF32));
  for (int i = 0; i < kInstructions; ++i) y = f.Unary(hlo::kTanh, y);
  ASSERT_TRUE(f.Build(y).ok());
  hlo::Builder b(module, "main");
  ASSERT_TRUE(b.Build(b.Call({b.Parameter(0, hlo::Shape::Scalar(hlo::kF32))}, f.id())).ok());
  int looks = 0;
  PassWatch never([&looks] {
    ++looks;
    return absl::OkStatus();
  });
  ASSERT_TRUE(RunPipeline(module, &never).ok());
  EXPECT_GE(looks, 10 * kInstructions / 4096);
  for (int at = 1; at <= looks; ++at) {
    int asked = 0;
    PassWatch watch([&] { return ++asked == at ? absl::CancelledError("here") : absl::OkStatus(); });
    EXPECT_EQ(RunPipeline(module, &watch).status(), absl::CancelledError("here")) << at;
    EXPECT_EQ(asked, at) << "Nothing is asked after it.";
  }
}

}  // namespace
}  // namespace hlod::passes
