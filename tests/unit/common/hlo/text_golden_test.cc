// Texts in the printer's form come back unchanged; faulty texts are refused with the right position and
// reason.
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "tests/support/source_dir.h"
#include "tests/unit/common/hlo/codec_test_util.h"

namespace hlod::hlo {
namespace {

std::vector<std::filesystem::path> Texts(const std::string& folder) {
  std::vector<std::filesystem::path> texts;
  for (const auto& entry : std::filesystem::directory_iterator(SourceDir() / "tests/golden" / folder)) {
    if (entry.path().extension() == ".hlo") texts.push_back(entry.path());
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}
std::string StemOf(const testing::TestParamInfo<std::filesystem::path>& info) {
  return info.param.stem().string();
}

class GoldenText : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(GoldenText, IsPrintedAsItWasRead) {
  const std::string text = ReadFile(GetParam());
  const auto module = ParseModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(ToText(**module), text);
}

TEST_P(GoldenText, PassesThroughTheProto) {
  const auto module = ParseModule(ReadFile(GetParam()));
  ASSERT_TRUE(module.ok()) << module.status();
  const auto again = FromSerialized(Serialize(**module));
  ASSERT_TRUE(again.ok()) << again.status();
  // The proto cannot express these two fields.
  (*again)->config.replica_count = (*module)->config.replica_count;
  (*again)->config.partition_count = (*module)->config.partition_count;
  if ((*module)->config.entry_layout.result.type == kInvalid)
    (*again)->config.entry_layout = {};  // The proto always states the entry layout.
  EXPECT_EQ(ToText(**again), ToText(**module));
  ExpectSameProgram(**module, **again);
}

INSTANTIATE_TEST_SUITE_P(Golden, GoldenText, testing::ValuesIn(Texts("hlo")), StemOf);

class FaultyText : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(FaultyText, IsRefusedWithPlaceAndReason) {
  const auto module = ParseModule(ReadFile(GetParam()));
  std::filesystem::path expected = GetParam();
  expected.replace_extension(".error");
  EXPECT_EQ(std::string(module.status().message()), ReadFile(expected));
  // An unknown feature has another error than a mistake.
  const bool unknown =
      module.status().message().find("is not known to this build") != absl::string_view::npos;
  EXPECT_EQ(module.status().code(),
            unknown ? absl::StatusCode::kUnimplemented : absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Golden, FaultyText, testing::ValuesIn(Texts("errors")), StemOf);

}  // namespace
}  // namespace hlod::hlo
