// Every case of JAX, written as StableHLO and read again, still evaluates to XLA's own results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/import/import.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/proto/codec.h"
#include "tests/conformance/case.h"

namespace hlod::testing {
namespace {

// Cases with an instruction that neither StableHLO nor CHLO has.
struct WithoutForm {
  const char *name, *opcode;
};
constexpr WithoutForm kWithoutForm[] = {
    {"hlo_asynchronous", "async-start"},
    {"hlo_collectives_alone", "all-reduce-start"},
    {"hlo_scaled_dot", "scaled-dot"},
    {"hlo_stochastic_convert", "stochastic-convert"},
    {"mulhi_zoo", "mulhi"},
};

class WrittenAsStablehlo : public ::testing::TestWithParam<std::string> {};

TEST_P(WrittenAsStablehlo, EvaluatesToXlasResults) {
  const absl::StatusOr<Case> jax = LoadCase(GetParam());
  ASSERT_TRUE(jax.ok()) << jax.status();
  const auto module = hlo::FromSerialized(jax->module_proto);
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<std::string> text = stablehlo::FromHlo(**module);
  for (const WithoutForm& row : kWithoutForm) {
    if (GetParam() != row.name) continue;
    EXPECT_EQ(text.status().code(), absl::StatusCode::kUnimplemented) << text.status();
    EXPECT_THAT(std::string(text.status().message()),
                ::testing::HasSubstr("(" + std::string(row.opcode) + ") cannot be written"));
    RecordProperty("without_form", row.opcode);  // readme.py counts these.
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

// StableHLO has no layouts: the effect of an optimised module's layouts is written out.
class OptimisedAsStablehlo : public ::testing::TestWithParam<std::string> {};

TEST_P(OptimisedAsStablehlo, EvaluatesToXlasResults) {
  const absl::StatusOr<Case> compiled = LoadCase(GetParam(), "optimised");
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto module = ReadModule(compiled->module_text);
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<std::string> text = stablehlo::FromHlo(**module);
  ASSERT_TRUE(text.ok()) << text.status();
  const auto read = ReadModule(*text);
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << *text;
  std::vector<const hlo::Literal*> arguments;
  for (const hlo::Literal& argument : compiled->arguments) arguments.push_back(&argument);
  for (const hlo::Module* form : {module->get(), read->get()}) {
    const absl::StatusOr<hlo::Literal> result = Evaluate(*form, arguments);
    ASSERT_TRUE(result.ok()) << result.status();
    const absl::Status same = CompareResult(*result, *compiled);
    EXPECT_TRUE(same.ok()) << compiled->about << "\n" << same.message();
  }
}

INSTANTIATE_TEST_SUITE_P(Xla, OptimisedAsStablehlo, ::testing::ValuesIn(CaseNames("optimised")), CaseName());

INSTANTIATE_TEST_SUITE_P(Jax, WrittenAsStablehlo, ::testing::ValuesIn(CaseNames()), CaseName());

}  // namespace
}  // namespace hlod::testing
