// Every case of JAX, written as StableHLO and read again, still evaluates to XLA's own results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/import/import.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/opcode.h"
#include "common/hlo/proto/codec.h"
#include "tests/conformance/case.h"

namespace hlod::testing {
namespace {

// Opcodes that neither StableHLO nor CHLO has, or not as these instructions have them.
constexpr hlo::Opcode kWithoutForm[] = {hlo::kScan};

bool HasForm(const hlo::Module& module) {
  for (hlo::ComputationId id = 0; id < module.computation_count(); ++id) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      for (const hlo::Opcode opcode : kWithoutForm) {
        if (computation[node].opcode() == opcode) return false;
      }
    }
  }
  return true;
}

class WrittenAsStablehlo : public ::testing::TestWithParam<std::string> {};

TEST_P(WrittenAsStablehlo, EvaluatesToXlasResults) {
  const absl::StatusOr<Case> jax = LoadCase(GetParam());
  ASSERT_TRUE(jax.ok()) << jax.status();
  const auto module = hlo::FromSerialized(jax->module_proto);
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<std::string> text = stablehlo::FromHlo(**module);
  if (!HasForm(**module)) {
    EXPECT_EQ(text.status().code(), absl::StatusCode::kUnimplemented) << text.status();
    return;
  }
  ASSERT_TRUE(text.ok()) << text.status();
  const auto read = ReadModule(*text);
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << *text;
  std::vector<const hlo::Literal*> arguments;
  for (const hlo::Literal& argument : jax->arguments) arguments.push_back(&argument);
  const absl::StatusOr<hlo::Literal> result = Evaluate(**read, arguments);
  ASSERT_TRUE(result.ok()) << result.status() << "\n" << *text;
  const absl::Status same = CompareResult(*result, *jax);
  EXPECT_TRUE(same.ok()) << jax->about << "\n" << same.message() << "\n" << *text;
}

INSTANTIATE_TEST_SUITE_P(Jax, WrittenAsStablehlo, ::testing::ValuesIn(CaseNames()), CaseName());

}  // namespace
}  // namespace hlod::testing
