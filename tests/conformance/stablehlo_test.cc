// Every StableHLO case, in each of its forms, converts to HLO that evaluates to XLA's own results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/import/import.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/text/text.h"
#include "tests/conformance/case.h"

namespace hlod::testing {
namespace {

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

// Returns the file names of the forms in which a case exists.
std::vector<std::string> FormsOf(const Case& c) {
  std::vector<std::string> forms;
  for (const char* form : {"module.mlir", "module.generic.mlir", "module.located.mlir", "module.mlirbc"}) {
    if (std::filesystem::exists(std::filesystem::path(c.folder) / form)) forms.emplace_back(form);
  }
  return forms;
}

class StablehloConformance : public ::testing::TestWithParam<std::string> {};

TEST_P(StablehloConformance, EveryFormConvertsAndEvaluatesToXlasResults) {
  const absl::StatusOr<Case> jax = LoadCase(GetParam(), "stablehlo");
  ASSERT_TRUE(jax.ok()) << jax.status();
  std::string first;
  for (const std::string& form : FormsOf(*jax)) {
    SCOPED_TRACE(form);
    const std::string bytes = ReadAll(std::filesystem::path(jax->folder) / form);
    ArgumentSizes sizes;  // Used for types with unknown sizes.
    for (const hlo::Literal& argument : jax->arguments) sizes[sizes.size()] = argument.shape().dims;
    const auto module = ReadModule(bytes, {.sizes = sizes});
    ASSERT_TRUE(module.ok()) << module.status();
    const std::string text = ToText(**module, {.metadata = false});
    if (text == first) continue;
    first = text;
    std::vector<const hlo::Literal*> arguments;
    for (const hlo::Literal& argument : jax->arguments) arguments.push_back(&argument);
    const absl::StatusOr<hlo::Literal> result = Evaluate(**module, arguments);
    if (GetParam() == "manual_computation") {
      EXPECT_EQ(result.status().code(), absl::StatusCode::kUnimplemented);
      EXPECT_THAT(std::string(result.status().message()),
                  ::testing::HasSubstr("cuts arrays up among partitions"));
      continue;
    }
    ASSERT_TRUE(result.ok()) << result.status() << "\n" << text;
    const absl::Status same = CompareResult(*result, *jax);
    EXPECT_TRUE(same.ok()) << jax->about << "\n" << same.message() << "\n" << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Stablehlo, StablehloConformance, ::testing::ValuesIn(CaseNames("stablehlo")),
                         CaseName());

TEST(StablehloCases, AreThere) { EXPECT_GT(CaseNames("stablehlo").size(), 40); }

}  // namespace
}  // namespace hlod::testing
