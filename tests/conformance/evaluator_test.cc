// Every JAX case evaluates to XLA's own results.
#include "common/evaluator/evaluator.h"

#include <gtest/gtest.h>

#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"
#include "tests/conformance/case.h"

namespace hlod::testing {
namespace {

class EvaluatorConformance : public ::testing::TestWithParam<std::string> {};

TEST_P(EvaluatorConformance, ModuleFromJaxEvaluatesToXlasResults) {
  const absl::StatusOr<Case> jax = LoadCase(GetParam());
  ASSERT_TRUE(jax.ok()) << jax.status();
  const auto module = hlo::FromSerialized(jax->module_proto, {.for_execution = true});
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::Status verified = hlo::Verify(**module);
  ASSERT_TRUE(verified.ok()) << verified;
  std::vector<const hlo::Literal*> arguments;
  for (const hlo::Literal& argument : jax->arguments) arguments.push_back(&argument);
  const absl::StatusOr<hlo::Literal> result = Evaluate(**module, arguments);
  ASSERT_TRUE(result.ok()) << result.status();
  const absl::Status same = CompareResult(*result, *jax);
  EXPECT_TRUE(same.ok()) << jax->about << "\n" << same.message();
}

INSTANTIATE_TEST_SUITE_P(Jax, EvaluatorConformance, ::testing::ValuesIn(CaseNames()), CaseName());

TEST(Cases, AreThere) { EXPECT_GT(CaseNames().size(), 100); }

}  // namespace
}  // namespace hlod::testing
