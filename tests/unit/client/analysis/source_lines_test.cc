// Lines of the user's program, in both of XLA's forms.
#include "client/analysis/module/source_lines.h"

#include <gtest/gtest.h>

#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"

namespace hlod::analysis {
namespace {

// Printed by JAX 0.10. Parents are numbered from 1, and 1 means none.
constexpr char kFrames[] = R"(HloModule m

FileNames
1 "train.py"
2 "model.py"

FunctionNames
1 "<module>"
2 "loss"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=4 end_column=66}
2 {file_name_id=2 function_name_id=2 line=41 end_line=41 column=8 end_column=21}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] negate(x), metadata={op_name="jit(f)/neg" stack_frame_id=2}
  b = f32[4] sine(a), metadata={op_name="jit(f)/sin" source_file="old.py" source_line=3}
  ROOT c = f32[4] cosine(b), metadata={op_name="jit(f)/cos" stack_frame_id=9}
})";

std::vector<std::string> Lines(const hlo::Module& module) {
  const SourceLines lines(module);
  std::vector<std::string> texts;
  for (hlo::NodeId node = 0; node < module.entry().size(); ++node) {
    const hlo::Notes* const notes = module.entry().notes(node);
    texts.push_back(notes == nullptr ? "" : ToString(lines.Of(*notes)));
  }
  return texts;
}

TEST(SourceLines, ComeFromTheTableOfFramesOrTheInstruction) {
  const auto module = hlo::ParseModule(kFrames);
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<std::string> expected = {"", "model.py:41", "old.py:3", ""};
  EXPECT_EQ(Lines(**module), expected);
  // Reads the same module from the form of JAX's protos.
  const auto again = hlo::FromSerialized(hlo::Serialize(**module));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Lines(**again), expected);
}

TEST(SourceLines, ATableOutOfOrderIsRefused) {
  const auto module =
      hlo::ParseModule("HloModule m\nFileNames\n2 \"a.py\"\nENTRY e { ROOT x = f32[] parameter(0) }");
  EXPECT_EQ(module.status().message(), "3:1: row 2 of a table stands where row 1 belongs");
}

}  // namespace
}  // namespace hlod::analysis
