// Every module of the sweeps in every form: text and proto give the same module, StableHLO the same results.
#include <gtest/gtest.h>

#include "client/import/import.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"
#include "tests/conformance/sweep.h"

namespace hlod::testing {
namespace {

class SweepForms : public ::testing::TestWithParam<std::string> {};

absl::StatusOr<hlo::Literal> EvaluateSweep(const SweepModule& sweep, const hlo::Module& module) {
  std::vector<const hlo::Literal*> arguments;
  for (const hlo::Literal& argument : sweep.arguments) arguments.push_back(&argument);
  return Evaluate(module, arguments);
}

TEST_P(SweepForms, TextAndProtoKeepTheModule) {
  const auto modules = LoadSweep(GetParam());
  ASSERT_TRUE(modules.ok()) << modules.status();
  for (const SweepModule& sweep : *modules) {
    SCOPED_TRACE(sweep.name);
    const auto module = hlo::ParseModule(sweep.text);
    ASSERT_TRUE(module.ok()) << module.status();
    const auto decoded = hlo::FromSerialized(hlo::Serialize(**module));  // Fills in the entry's layout.
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    const std::string text = ToText(**decoded);
    const auto parsed = hlo::ParseModule(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(ToText(**parsed), text);
    EXPECT_EQ(hlo::Serialize(**parsed), hlo::Serialize(**decoded));
  }
  RecordProperty("modules", static_cast<int>(modules->size()));  // readme.py counts these.
}

TEST_P(SweepForms, StablehloGivesTheSameResults) {
  const auto modules = LoadSweep(GetParam());
  ASSERT_TRUE(modules.ok()) << modules.status();
  for (const SweepModule& sweep : *modules) {
    SCOPED_TRACE(sweep.name);
    const auto module = hlo::ParseModule(sweep.text);
    ASSERT_TRUE(module.ok()) << module.status();
    const absl::StatusOr<std::string> form = stablehlo::FromHlo(**module);
    ASSERT_TRUE(form.ok()) << form.status();
    const auto read = ReadModule(*form);
    ASSERT_TRUE(read.ok()) << read.status() << "\n" << *form;
    const auto expected = EvaluateSweep(sweep, **module), result = EvaluateSweep(sweep, **read);
    ASSERT_TRUE(expected.ok()) << expected.status();
    ASSERT_TRUE(result.ok()) << result.status() << "\n" << *form;
    const auto got = result->Leaves(), want = expected->Leaves();
    ASSERT_EQ(got.size(), want.size());
    for (size_t r = 0; r < got.size(); ++r) {
      EXPECT_EQ(SweepDifference(*got[r], {.rule = SweepRule::kExact, .expected = *want[r]}), "")
          << sweep.results[r].name;
    }
  }
  RecordProperty("modules", static_cast<int>(modules->size()));
}

INSTANTIATE_TEST_SUITE_P(Xla, SweepForms, ::testing::ValuesIn(SweepFamilies()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hlod::testing
