// Tests forms of HLO text that XLA reads and does not print: instructions among operands, texts of one
// instruction, keys in another order; and the attributes of custom calls that state a convolution.
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "gmock/gmock.h"
#include "proto/xla/hlo.pb.h"

namespace hlod::hlo {
namespace {

using ::testing::HasSubstr;

std::string Printed(std::string_view text) {
  const absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  if (!module.ok()) return std::string(module.status().message());
  if (const absl::Status status = Verify(**module); !status.ok()) return std::string(status.message());
  std::string printed = ToText(**module);
  return printed.substr(printed.find("ENTRY"));
}

TEST(TextByHand, OperandsMayBeInstructions) {
  EXPECT_EQ(Printed("ENTRY e {\n  x = f32[3] parameter(0)\n"
                    "  ROOT r = add(negate(x), multiply(f32[3] exponential(x), f32[3] parameter(1)))\n}"),
            "ENTRY e {\n"
            "  x = f32[3] parameter(0)\n"
            "  negate.anon = f32[3] negate(x)\n"
            "  exponential.anon = f32[3] exponential(x)\n"
            "  parameter.anon = f32[3] parameter(1)\n"
            "  multiply.anon = f32[3] multiply(exponential.anon, parameter.anon)\n"
            "  ROOT r = f32[3] add(negate.anon, multiply.anon)\n}\n");
}

TEST(TextByHand, NamesOfNestedInstructionsAreUnique) {
  const std::string printed = Printed(
      "ENTRY e {\n  add.anon = f32[] parameter(0)\n  ROOT r = tuple(add(add.anon, add.anon), add(add.anon, add.anon))\n}");
  const absl::StatusOr<std::unique_ptr<Module>> again = ParseModule(printed);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << printed;
  EXPECT_EQ((*again)->entry().size(), 4u);
}

TEST(TextByHand, TuplesNestToo) {
  EXPECT_THAT(Printed("ENTRY e { ROOT r = get-tuple-element((f32[2], s8[]) tuple(f32[2] parameter(0), s8[] "
                      "constant(7))), index=1 }"),
              HasSubstr("ROOT r = s8[] get-tuple-element(tuple.anon), index=1"));
}

TEST(TextByHand, BroadcastOfAScalarNeedsNoDimensions) {
  EXPECT_THAT(Printed("ENTRY e { ROOT r = sqrt(f32[2,3] broadcast(f32[] parameter(0))) }"),
              HasSubstr("broadcast(parameter.anon), dimensions={}"));
  EXPECT_THAT(Printed("ENTRY e { ROOT r = f32[2,3] broadcast(f32[3] parameter(0)) }"),
              HasSubstr("dimensions"));
}

TEST(TextByHand, MapsAreOverAllDimensions) {
  EXPECT_THAT(Printed("f { a = f32[] parameter(0) ROOT b = f32[] negate(a) }\n"
                      "ENTRY e { x = f32[2,3] parameter(0) ROOT r = f32[2,3] map(x), to_apply=f }"),
              HasSubstr("map(x), dimensions={0,1}, to_apply=f"));
}

TEST(TextByHand, NestedInstructionsHaveNoAttributes) {
  EXPECT_THAT(
      Printed("ENTRY e { x = f32[2,3] parameter(0) ROOT r = negate(transpose(x), dimensions={1,0}) }"),
      HasSubstr("transpose needs the attribute \"dimensions\""));
}

TEST(TextByHand, NestingHasALimit) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "negate(";
  EXPECT_THAT(Printed("ENTRY e { ROOT r = " + text), HasSubstr("instructions nest deeper than 64 levels"));
  EXPECT_THAT(Printed("f32[] " + text), HasSubstr("nest deeper than 64 levels"));
}

TEST(TextByHand, OneInstructionIsAModule) {
  EXPECT_EQ(Printed("%sum = f32[2,4]{1,0} add(f32[2,4]{1,0} %x, f32[2,4]{1,0} %y)"),
            "ENTRY entry {\n"
            "  x = f32[2,4]{1,0} parameter(0)\n"
            "  y = f32[2,4]{1,0} parameter(1)\n"
            "  ROOT sum = f32[2,4]{1,0} add(x, y)\n}\n");
  EXPECT_EQ(Printed("s = f32[2] multiply(f32[2] x, f32[2] x)"),
            "ENTRY entry {\n  x = f32[2] parameter(0)\n  ROOT s = f32[2] multiply(x, x)\n}\n");
  EXPECT_EQ(Printed("f32[2] multiply(f32[2], f32[2])"),
            "ENTRY entry {\n"
            "  parameter.0 = f32[2] parameter(0)\n"
            "  parameter.1 = f32[2] parameter(1)\n"
            "  ROOT root = f32[2] multiply(parameter.0, parameter.1)\n}\n");
}

TEST(TextByHand, OneInstructionMayHaveOperandsOfAnyName) {
  const std::string printed = Printed("f32[4] add(f32[4] root, f32[4] root)");
  const absl::StatusOr<std::unique_ptr<Module>> again = ParseModule(printed);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << printed;
  EXPECT_EQ((*again)->entry().size(), 2u);
}

// Takes minutes if each operand is searched for among those before it.
TEST(TextByHand, OneInstructionMayHaveManyOperands) {
  std::string text = "r = tuple(f32[] x0";
  for (int i = 1; i < 200'000; ++i) text += ", f32[] x" + std::to_string(i);
  const absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text + ", f32[] x7)");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->entry().size(), 200'001u);
}

TEST(TextByHand, OneInstructionWithItsComputations) {
  EXPECT_THAT(
      Printed("s32[5]{0} conditional(pred[], s32[5]{0}, s32[5]{0}), true_computation=\n"
              "{\n  tmp_0 = s32[5]{0} parameter(0)\n  ROOT tmp_1 = s32[5]{0} negate(s32[5]{0} tmp_0)\n},\n"
              "false_computation=\n{\n  ROOT tmp_0 = s32[5]{0} parameter(0)\n}\n"),
      HasSubstr("conditional(parameter.0, parameter.1, parameter.2), true_computation="));
}

TEST(TextByHand, AComputationMayHaveTheNameOfAType) {
  EXPECT_THAT(Printed("b (x: f32[]) -> f32[] { ROOT x = f32[] parameter(0) }"), HasSubstr("ENTRY b {"));
}

TEST(TextByHand, OneInstructionNeedsShapesAndAnEnd) {
  EXPECT_THAT(Printed("s = f32[2] negate(x)"),
              HasSubstr("1:19: an operand of an instruction without a module needs"));
  EXPECT_THAT(Printed("s = f32[2] negate(f32[2] x)\nt = f32[2] negate(f32[2] s)"),
              HasSubstr("2:1: expected the end of a text that is one instruction"));
}

TEST(TextByHand, WindowsStateTheirKeysInAnyOrder) {
  const std::string convolution =
      "ENTRY e { x = f32[1,2,1] parameter(0) w = f32[1,1,1] parameter(1)\n"
      "  ROOT c = f32[1,4,1] convolution(x, w), dim_labels=b0f_0io->b0f, window={";
  EXPECT_THAT(Printed(convolution + "pad=1_1 size=1} }"), HasSubstr("window={size=1 pad=1_1}"));
  EXPECT_THAT(Printed(convolution + "pad=1_1x0_0 size=1} }"),
              HasSubstr("size has 1 dimensions, the keys before it 2"));
  EXPECT_THAT(Printed(convolution + "pad=1_1} }"), HasSubstr("the window has no size"));
}

TEST(TextByHand, FlagsOfTheHeaderMayHaveBraces) {
  EXPECT_THAT(
      Printed("HloModule m, allow_spmd_sharding_propagation_to_parameters={true,false}, "
              "allow_spmd_sharding_propagation_to_output=true\nENTRY e { ROOT x = s8[] parameter(0) }"),
      HasSubstr("ROOT x = s8[] parameter(0)"));
}

TEST(TextByHand, ModesOfCollectivesAreRead) {
  EXPECT_THAT(Printed("f { a = s8[] parameter(0) b = s8[] parameter(1) ROOT c = s8[] add(a, b) }\n"
                      "ENTRY e { x = s8[] parameter(0) ROOT r = s8[] all-reduce(x), mode=cross_replica, "
                      "replica_groups={}, to_apply=f }"),
              HasSubstr("all-reduce(x), replica_groups={}, to_apply=f"));
}

// Tests that the attributes of a library's convolution come back in text and proto.
TEST(TextByHand, CustomCallsCarryConvolutions) {
  const std::string call =
      "custom-call(x, w), window={size=1x5 pad=0_0x2_2}, dim_labels=bf01_01io->bf01, feature_group_count=2, "
      "operand_precision={highest,default}, custom_call_target=\"__cudnn$convForward\", backend_config={\"a\":1}";
  const std::string text =
      "ENTRY e { x = f32[2,8,1,9] parameter(0) w = f32[1,5,4,8] parameter(1)\n"
      "  ROOT c = (f32[2,8,1,9], u8[0]) " +
      call + " }";
  const std::string printed = Printed(text);
  for (const char* attribute : {"window={size=1x5 pad=0_0x2_2}", "dim_labels=bf01_01io->bf01",
                                "feature_group_count=2", "operand_precision={highest,default}"}) {
    EXPECT_THAT(printed, HasSubstr(attribute));
  }
  EXPECT_THAT(printed, testing::Not(HasSubstr("/* without")));
  EXPECT_EQ(Printed(printed), printed);

  const absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const xla::HloModuleProto proto = ToProto(**module);
  const xla::HloInstructionProto& instruction = proto.computations(0).instructions(2);
  EXPECT_EQ(instruction.window().dimensions(1).padding_high(), 2);
  EXPECT_EQ(instruction.convolution_dimension_numbers().kernel_output_feature_dimension(), 3);
  EXPECT_EQ(instruction.feature_group_count(), 2);
  EXPECT_EQ(instruction.precision_config().operand_precision(0), xla::PrecisionConfig::HIGHEST);
}

TEST(TextByHand, OtherInstructionsHaveNoWindow) {
  EXPECT_THAT(Printed("ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] negate(x), window={size=1} }"),
              HasSubstr("attribute \"window\" of negate is not known"));
}

// XLA refuses these, too.
TEST(TextByHand, ConstantsAreWithinTheRangeOfTheirType) {
  const auto constant = [](const std::string& type, const std::string& value) {
    return Printed("ENTRY e { ROOT c = " + type + "[] constant(" + value + ") }");
  };
  EXPECT_THAT(constant("f32", "3.4028236e38"), HasSubstr("3.4028236e38 is out of the range of f32"));
  EXPECT_THAT(constant("f32", "-1e40"), HasSubstr("-1e40 is out of the range of f32"));
  EXPECT_THAT(constant("f64", "1e400"), HasSubstr("1e400 is out of the range of f64"));
  EXPECT_THAT(constant("f16", "65520"), HasSubstr("65520 is out of the range of f16"));
  EXPECT_THAT(constant("bf16", "1e39"), HasSubstr("1e39 is out of the range of bf16"));
  EXPECT_THAT(constant("f8e4m3fn", "1000"), HasSubstr("1000 is out of the range of f8e4m3fn"));
  EXPECT_THAT(constant("c64", "(1e40, 0)"), HasSubstr("1e40 is out of the range of f32"));
  EXPECT_THAT(constant("f16", "65519"), HasSubstr("constant(65504)"));
  EXPECT_THAT(constant("f32", "-inf"), HasSubstr("constant(-inf)"));
  EXPECT_THAT(constant("f32", "1e-60"), HasSubstr("constant(0)"));
}

TEST(TextByHand, AWindowIsReversedOrNot) {
  const std::string text =
      "ENTRY e { p = f32[1,4,1] parameter(0) k = f32[1,2,1] parameter(1)\n"
      "ROOT c = f32[1,3,1] convolution(p, k), window={size=2 rhs_reversal=7}, dim_labels=b0f_i0o->b0f }";
  EXPECT_THAT(Printed(text), HasSubstr("rhs_reversal is 0 or 1, not 7"));
}

}  // namespace
}  // namespace hlod::hlo
