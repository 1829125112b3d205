// The verifier: every error that a client's module may contain, each with its own message. Modules are built
// from raw instructions.
#include "common/hlo/inference/verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/text/strings.h"
#include "common/hlo/builder.h"
#include "common/hlo/text/text.h"

namespace hlod::hlo {
namespace {

using ::testing::HasSubstr;

std::string Message(const absl::Status& status) {
  return status.ok() ? "OK" : std::string(FromAbsl(status.message()));
}
Shape S(std::string_view text) { return ParseShape(text).value(); }

// Appends instructions without inference.
struct Raw {
  explicit Raw(std::string name = "main") : computation(module.AddComputation(std::move(name))) {}
  NodeId Add(Opcode opcode, std::string_view shape, std::vector<NodeId> operands = {},
             Attributes attributes = NoAttributes{}, std::vector<ComputationId> called = {}) {
    return computation.Append(opcode, module.tables().Intern(S(shape)), module.tables().Intern(attributes),
                              operands, called);
  }
  NodeId Parameter(int64_t number, std::string_view shape) {
    return Add(kParameter, shape, {}, ParameterAttributes{number});
  }
  std::string Verified(const VerifyOptions& options = {}) { return Message(Verify(module, options)); }

  Module module{"m"};
  Computation& computation;
};

TEST(Verify, TakesASoundModule) {
  Raw raw;
  const NodeId x = raw.Parameter(0, "f32[2]{0}");
  raw.Add(kAdd, "f32[2]{0}", {x, x});
  EXPECT_EQ(raw.Verified(), "OK");
}

TEST(Verify, RefusesEmptyThings) {
  EXPECT_THAT(Message(Verify(Module("m"))), HasSubstr("no computations"));
  EXPECT_THAT(Raw().Verified(), HasSubstr("no instructions"));
}

TEST(Verify, NamesInstructionComputationAndLine) {
  Raw raw;
  const NodeId x = raw.Parameter(0, "f32[2]");
  const NodeId sum = raw.Add(kAdd, "f32[3]", {x, x});
  raw.computation.mutable_notes(sum).name = "sum";
  raw.computation.mutable_notes(sum).metadata.source_file = "model.py";
  raw.computation.mutable_notes(sum).metadata.source_line = 12;
  EXPECT_EQ(raw.Verified(),
            "The stated shape (f32[3]) of add differs from the inferred shape (f32[2]).\n"
            " - While verifying instruction (sum) from model.py:12.\n"
            " - While verifying computation (main).");
}

TEST(Verify, RefusesForwardReferences) {
  Raw raw;
  raw.Parameter(0, "f32[]");
  raw.Add(kNegate, "f32[]", {1});
  EXPECT_THAT(raw.Verified(), HasSubstr("Operand (1) does not come before its user"));
  Raw beyond;
  beyond.Parameter(0, "f32[]");
  beyond.Add(kNegate, "f32[]", {UINT32_MAX});
  EXPECT_THAT(beyond.Verified(), HasSubstr("does not come before"));
}

TEST(Verify, RefusesRecursion) {
  Raw raw;
  const NodeId x = raw.Parameter(0, "f32[]");
  raw.Add(kCall, "f32[]", {x}, CallAttributes{}, {0});
  EXPECT_THAT(raw.Verified(), HasSubstr("The called computation (0) does not come before its caller"));
  Raw missing;
  missing.Add(kCall, "f32[]", {missing.Parameter(0, "f32[]")}, CallAttributes{}, {77});
  EXPECT_THAT(missing.Verified(), HasSubstr("called computation (77)"));
}

TEST(Verify, RefusesControlPredecessorsThatFollow) {
  Raw raw;
  const NodeId x = raw.Parameter(0, "f32[]");
  raw.computation.mutable_notes(x).control_predecessors = {0};
  EXPECT_THAT(raw.Verified(), HasSubstr("control predecessor (0)"));
}

TEST(Verify, WantsDenseParameterNumbers) {
  Raw gap;
  gap.Parameter(1, "f32[]");
  EXPECT_THAT(gap.Verified(), HasSubstr("are not 0 to 0, each once"));
  Raw twice;
  twice.Parameter(0, "f32[]");
  twice.Parameter(0, "f32[]");
  EXPECT_THAT(twice.Verified(), HasSubstr("are not 0 to 1, each once"));
  Raw huge;
  huge.Parameter(INT64_MAX, "f32[]");
  EXPECT_THAT(huge.Verified(), HasSubstr("each once"));
}

TEST(Verify, RefusesShapesThatCannotExist) {
  Raw raw;
  Shape shape = Shape::Array(kF32, {int64_t{1} << 62});
  raw.computation.Append(kParameter, raw.module.tables().Intern(shape),
                         raw.module.tables().Intern(Attributes(ParameterAttributes{0})), {});
  EXPECT_THAT(raw.Verified(), HasSubstr("overflows 64 bits"));
  Raw negative;
  negative.computation.Append(kParameter, negative.module.tables().Intern(Shape::Array(kF32, {-4})),
                              negative.module.tables().Intern(Attributes(ParameterAttributes{0})), {});
  EXPECT_THAT(negative.Verified(), HasSubstr("size (-4)"));
}

TEST(Verify, AConstantHasItsLiteralsShape) {
  Raw raw;
  const LiteralId literal =
      raw.module.tables().Intern(std::make_shared<const Literal>(Literal::Vector<float>({1, 2})));
  raw.Add(kConstant, "f32[3]", {}, ConstantAttributes{literal});
  EXPECT_THAT(raw.Verified(), HasSubstr("that of its literal (f32[2])"));
}

TEST(Verify, CountsInstructionsAndNesting) {
  Raw raw;
  raw.Parameter(0, "f32[]");
  raw.Parameter(1, "f32[]");
  EXPECT_EQ(Verify(raw.module, {.instructions_max = 1}).code(), absl::StatusCode::kResourceExhausted);

  Module deep("m");
  for (ComputationId c = 0; c < 70; ++c) {
    Builder b(deep, absl::StrCat("f", c));
    const Op x = b.Parameter(0, Shape::Scalar(kF32));
    ASSERT_TRUE(b.Build(c == 0 ? x : b.Call({x}, c - 1)).ok());
  }
  EXPECT_THAT(Message(Verify(deep)), HasSubstr("nest deeper than the limit (64)"));
  EXPECT_TRUE(Verify(deep, {.call_depth_max = 70}).ok());
}

TEST(Verify, ChecksTheEntryLayout) {
  Raw raw;
  raw.Parameter(0, "f32[2,3]");
  raw.module.config.entry_layout.parameters = {S("f32[2,3]{0,1}")};
  raw.module.config.entry_layout.result = S("f32[2,3]");
  EXPECT_EQ(raw.Verified(), "OK");
  raw.module.config.entry_layout.result = S("f32[3,2]");
  EXPECT_THAT(raw.Verified(), HasSubstr("The result shape (f32[3,2]) of the entry layout"));
  raw.module.config.entry_layout.parameters = {S("f32[6]")};
  EXPECT_THAT(raw.Verified(), HasSubstr("The parameter 0 shape (f32[6])"));
  raw.module.config.entry_layout.parameters = {S("f32[6]"), S("f32[6]")};
  EXPECT_THAT(raw.Verified(), HasSubstr("has (2) parameters and the entry computation (1)"));
}

TEST(Verify, ChecksAliasesAndDonors) {
  const auto module = [](auto change) {
    Raw raw;
    const NodeId x = raw.Parameter(0, "f32[2]"), y = raw.Parameter(1, "(s32[], f32[2])");
    raw.Add(kTuple, "(f32[2], (s32[], f32[2]))", {x, y});
    change(raw.module);
    return raw.Verified();
  };
  EXPECT_EQ(
      module([](Module& m) { m.config.input_output_alias = {{{0}, 0, {}, true}, {{1, 1}, 1, {1}, false}}; }),
      "OK");
  EXPECT_EQ(module([](Module& m) { m.config.buffer_donors = {{1, {0}}}; }), "OK");
  EXPECT_THAT(module([](Module& m) { m.config.input_output_alias = {{{2}, 0, {}}}; }),
              HasSubstr("names no array of the result"));
  EXPECT_THAT(module([](Module& m) { m.config.input_output_alias = {{{1}, 0, {}}}; }),
              HasSubstr("names no array of the result"));
  EXPECT_THAT(module([](Module& m) { m.config.input_output_alias = {{{0}, 5, {}}}; }),
              HasSubstr("parameter (5)"));
  EXPECT_THAT(module([](Module& m) { m.config.input_output_alias = {{{0}, -1, {}}}; }),
              HasSubstr("parameter (-1)"));
  EXPECT_THAT(module([](Module& m) { m.config.input_output_alias = {{{1, 0}, 0, {}}}; }),
              HasSubstr("differs from the parameter's"));
  EXPECT_THAT(module([](Module& m) { m.config.input_output_alias = {{{0}, 0, {}}, {{1, 1}, 0, {}}}; }),
              HasSubstr("aliased twice"));
  EXPECT_THAT(module([](Module& m) { m.config.buffer_donors = {{1, {}}}; }), HasSubstr("no array"));
  EXPECT_THAT(module([](Module& m) { m.config.buffer_donors = {{0, {0, -9}}}; }), HasSubstr("no array"));
}

TEST(Verify, RefusesAttributesOfAnotherOpcode) {
  Raw raw;
  const NodeId x = raw.Parameter(0, "f32[2]");
  raw.Add(kTranspose, "f32[2]", {x}, SortAttributes{0});
  EXPECT_THAT(raw.Verified(), HasSubstr("attributes of transpose are those of another opcode"));
}

TEST(Verify, AnOpcodeWithoutARuleIsUnimplemented) {
  Raw raw;
  raw.Add(kShuffle, "f32[2]", {raw.Parameter(0, "f32[2]")});
  EXPECT_EQ(Verify(raw.module).code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace hlod::hlo
