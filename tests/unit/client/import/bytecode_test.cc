// Portable artifacts: an artifact is the same program as the text that MLIR prints for it; damaged ones are
// errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "client/import/program/operation.h"
#include "tests/support/source_dir.h"
#include "tests/unit/client/import/program_text.h"

namespace hlod::stablehlo {
namespace {

using testing::HasSubstr;

std::filesystem::path Forms() { return SourceDir() / "tests/unit/client/import/forms"; }

std::vector<std::string> Artifacts() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(Forms())) {
    if (entry.path().extension() == ".mlirbc") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Returns the program's text for comparison, without accuracies, of which only the text is kept.
std::string Comparable(const Program& program) {
  std::istringstream in(WithoutDefaults(ToText(program)));
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    if (line.find(" result_accuracy = ") == line.npos) kept += line + "\n";
  }
  return kept;
}

class Artifact : public testing::TestWithParam<std::string> {};

TEST_P(Artifact, IsTheProgramOfItsText) {
  const std::string bytes = BytesOf(Forms() / (GetParam() + ".mlirbc"));
  EXPECT_TRUE(IsBytecode(bytes));
  const absl::StatusOr<Program> artifact = ParseBytecode(bytes);
  ASSERT_TRUE(artifact.ok()) << artifact.status();
  const absl::StatusOr<Program> text = ParseText(BytesOf(Forms() / (GetParam() + ".mlir")));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(Comparable(*artifact), Comparable(*text));
}

INSTANTIATE_TEST_SUITE_P(Forms, Artifact, testing::ValuesIn(Artifacts()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
});

TEST(Bytecode, BeginningsAreErrors) {
  const std::string bytes = BytesOf(Forms() / "reduce_custom-0.9.0.mlirbc");
  for (size_t size = 0; size < bytes.size(); ++size) {
    // A copy of exactly this size makes the sanitizer report reads past its end.
    const std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(ParseBytecode({cut.data(), cut.size()}).ok()) << size;
  }
}

TEST(Bytecode, ChangedBytesAreAnErrorOrAProgram) {
  std::string bytes = BytesOf(Forms() / "reduce_custom-0.9.0.mlirbc");
  for (char& byte : bytes) {
    const char before = byte;
    for (const int change : {0x01, 0x80, 0xff}) {
      byte = static_cast<char>(before ^ change);
      ParseBytecode(bytes).IgnoreError();
    }
    byte = before;
  }
}

TEST(Bytecode, ErrorsNameTheByteAndWhatIsWrong) {
  const std::string bytes = BytesOf(Forms() / "reduce_custom-0.9.0.mlirbc");
  const auto error_of = [](std::string_view damaged) {
    return std::string(ParseBytecode(damaged).status().message());
  };
  EXPECT_THAT(error_of("MLxR"), HasSubstr("4D 4C EF 52"));
  EXPECT_THAT(error_of(bytes.substr(0, bytes.size() / 2)), HasSubstr("byte "));
  std::string newer = bytes;
  newer[4] = static_cast<char>(99 * 2 + 1);
  EXPECT_THAT(error_of(newer), HasSubstr("version 99; hlod reads versions 0 to 6"));
}

}  // namespace
}  // namespace hlod::stablehlo
