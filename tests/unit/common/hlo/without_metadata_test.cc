// Removes the parts of programs that describe their source.
#include "common/hlo/proto/without_metadata.h"

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"

namespace hlod::hlo {
namespace {

using codec::StripMetadata;

std::string Program(std::string_view name, std::string_view metadata, std::string_view opcode = "add") {
  return Serialize(*ParseModule(absl::StrFormat(R"(HloModule %s
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] %s(a, b)%s
}
ENTRY main {
  x = f32[4] parameter(0)%s
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=sum%s
}
)",
                                                std::string(name), std::string(opcode), std::string(metadata),
                                                std::string(metadata), std::string(metadata)))
                        .value());
}

TEST(WithoutMetadata, LinesAndNamesGoAndTheRestStays) {
  const std::string with = Program("one", R"(, metadata={op_name="f" source_file="a.cc" source_line=300})"),
                    without = Program("two", "");
  const auto one = StripMetadata(with), two = StripMetadata(without);
  ASSERT_TRUE(one.has_value() && two.has_value());
  EXPECT_EQ(one->name, "one");
  EXPECT_EQ(two->name, "two");
  EXPECT_EQ(one->module, two->module);
  EXPECT_NE(one->module, StripMetadata(Program("one", "", "multiply"))->module);
  // The result is a module equal to the other one without its name.
  const auto module = FromSerialized(one->module);
  ASSERT_TRUE(module.ok()) << module.status();
  (*module)->set_name("two");
  EXPECT_EQ(Serialize(**module), without);
  EXPECT_EQ(StripMetadata(one->module)->module, one->module);
}

TEST(WithoutMetadata, AWrappedModuleIsTheSameProgram) {
  xla::HloProto wrapped;
  wrapped.mutable_hlo_module()->ParseFromString(Program("one", ""));
  EXPECT_EQ(StripMetadata(wrapped.SerializeAsString())->module, StripMetadata(Program("one", ""))->module);
}

TEST(WithoutMetadata, FieldsThatNobodyKnowsStay) {
  xla::HloModuleProto proto;
  proto.ParseFromString(Program("one", ""));
  auto* const instruction = proto.mutable_computations(0)->mutable_instructions(0);
  instruction->GetReflection()->MutableUnknownFields(instruction)->AddVarint(1000, 7);
  EXPECT_NE(StripMetadata(proto.SerializeAsString())->module, StripMetadata(Program("one", ""))->module);
}

TEST(WithoutMetadata, WhatIsNotAMessageIsNothing) {
  const std::string program = Program("one", R"(, metadata={op_name="f"})");
  EXPECT_FALSE(StripMetadata("\xff\xff\xff").has_value());
  for (size_t length = 1; length < program.size(); ++length) {
    // A message that is cut at the end of a field is a valid, shorter message.
    static_cast<void>(StripMetadata(program.substr(0, length)));
  }
  EXPECT_FALSE(StripMetadata(program.substr(0, program.size() - 1)).has_value());
}

}  // namespace
}  // namespace hlod::hlo
