// StableHLO as JAX writes it: the pretty form, the generic form and the form with locations are one program.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "client/import/program/operation.h"
#include "tests/support/source_dir.h"
#include "tests/unit/client/import/program_text.h"

namespace hlod::stablehlo {
namespace {

std::filesystem::path Cases() { return CasesDir("stablehlo"); }

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(Cases()))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

Program ParseFile(const std::filesystem::path& path) {
  absl::StatusOr<Program> program = ParseText(BytesOf(path));
  EXPECT_TRUE(program.ok()) << path << ": " << program.status();
  return program.ok() ? *std::move(program) : Program();
}

// Operations that JAX does not write, or not in these forms (forms/generate.py).
TEST(TextOfEveryOperation, FormsAreOneProgram) {
  const std::filesystem::path folder = SourceDir() / "tests/unit/client/import/forms";
  const Program pretty = ParseFile(folder / "pretty.mlir");
  EXPECT_GT(pretty.functions.size(), 100);
  EXPECT_EQ(WithoutDefaults(ToText(ParseFile(folder / "generic.mlir"))), WithoutDefaults(ToText(pretty)));
  EXPECT_EQ(WithoutDefaults(ToText(ParseFile(folder / "operations.mlir"))), WithoutDefaults(ToText(pretty)));
}

class TextFromJax : public testing::TestWithParam<std::string> {
 protected:
  static Program Parse(const std::string& file) { return ParseFile(Cases() / GetParam() / file); }
};

TEST_P(TextFromJax, FormsAreOneProgram) {
  const Program pretty = Parse("module.mlir");
  ASSERT_FALSE(pretty.functions.empty());
  EXPECT_TRUE(IsStablehloText(BytesOf(Cases() / GetParam() / "module.mlir")));
  EXPECT_EQ(WithoutDefaults(ToText(Parse("module.generic.mlir"))), WithoutDefaults(ToText(pretty)));
  if (!std::filesystem::exists(Cases() / GetParam() / "module.located.mlir")) return;
  EXPECT_EQ(ToText(Parse("module.located.mlir")), ToText(pretty));
}

INSTANTIATE_TEST_SUITE_P(Cases, TextFromJax, testing::ValuesIn(CaseNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hlod::stablehlo
