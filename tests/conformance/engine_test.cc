// Every JAX case through the engine: XLA's results, the evaluator's results, and no reference step outside
// the list.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/proto/without_metadata.h"
#include "common/hlo/text/text.h"
#include "gtest/gtest.h"
#include "server/engine/plan/optimised.h"
#include "server/engine/plan/plan.h"
#include "tests/conformance/case.h"
#include "tests/support/held_engine.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::testing {
namespace {

// Cases that run reference steps, with all opcodes of those steps. A case fails when it has more or fewer.
struct ReferenceSteps {
  const char* name;
  std::vector<std::string> opcodes;
};
const std::vector<ReferenceSteps>& Allowed() {
  static const auto* const allowed = new std::vector<ReferenceSteps>{
      {"hlo_identities", {"imag"}},
      {"hlo_stochastic_convert", {"stochastic-convert"}},
  };
  return *allowed;
}

std::vector<std::string> AllowedOpcodes(const std::string& name) {
  for (const ReferenceSteps& row : Allowed()) {
    if (row.name == name) return row.opcodes;
  }
  // Checks sizes at run time, one scalar at a time.
  if (name.starts_with("hlo_dynamic_")) return {"custom-call"};
  return {};
}

class EngineConformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    absl::StatusOr<Case> jax = LoadCase(GetParam());
    ASSERT_TRUE(jax.ok()) << jax.status();
    jax_ = *std::move(jax);
    absl::StatusOr<std::unique_ptr<hlo::Module>> module =
        hlo::FromSerialized(jax_.module_proto, {.for_execution = true});
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
  }

  // Compares the flat results of a plan for the case's arguments with XLA's.
  void ExpectXlasResults(const engine::Plan& plan) {
    const auto results = engine::RunPlan(plan, jax_.arguments);
    ASSERT_TRUE(results.ok()) << results.status() << "\n" << plan.Dump();
    ASSERT_EQ(results->size(), jax_.expected.size());
    for (size_t r = 0; r < results->size(); ++r) {
      const absl::Status same = CompareArrays((*results)[r], jax_.expected[r], jax_.tolerances[r]);
      EXPECT_TRUE(same.ok()) << "result " << r << ": " << same << "\n" << plan.Dump();
    }
  }

  Case jax_;
  std::unique_ptr<hlo::Module> module_;
};

TEST_P(EngineConformance, PlanComputesXlasResults) {
  const auto plan = engine::Compile(*module_, {.threads = EngineThreads()});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const engine::PlanStats& stats = (*plan)->stats();
  std::printf("%s: %d instructions, %d steps, compiled in %d us%s%s\n", jax_.name.c_str(),
              static_cast<int>(stats.instructions), static_cast<int>(stats.steps),
              static_cast<int>(stats.compile_us), stats.reference_opcodes.empty() ? "" : ", reference: ",
              absl::StrJoin(stats.reference_opcodes, " ").c_str());
  EXPECT_EQ(stats.reference_opcodes, AllowedOpcodes(jax_.name)) << (*plan)->Dump();
  ASSERT_EQ((*plan)->arguments().size(), jax_.arguments.size());
  for (const Donation& donation : jax_.donated) {
    EXPECT_EQ((*plan)->aliases()[donation.result], donation.parameter);
  }
  ExpectXlasResults(**plan);
}

// The persistent compile cache keeps the optimised module as bytes, from which the same plan is made.
TEST_P(EngineConformance, TheOptimisedModuleIsKeptWhole) {
  std::shared_ptr<const hlo::Module> optimised;
  const auto plan = engine::Compile(*module_, {.threads = EngineThreads()}, &optimised);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto bytes = hlo::codec::StripMetadata(hlo::Serialize(*optimised));
  ASSERT_TRUE(bytes.has_value());
  absl::StatusOr<std::unique_ptr<hlo::Module>> read =
      hlo::FromSerialized(bytes->module, {.for_execution = true});
  ASSERT_TRUE(read.ok()) << read.status();
  const auto again = engine::PlanOptimised(*std::move(read), {.threads = EngineThreads()});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)->Dump(), (*plan)->Dump());
  EXPECT_EQ((*again)->aliases(), (*plan)->aliases());
  ExpectXlasResults(**again);
}

// The same plan with the evaluator in the place of every kernel.
TEST_P(EngineConformance, ReferencePlanComputesXlasResults) {
  const auto plan = engine::Compile(*module_, {.threads = EngineThreads(), .reference_only = true});
  ASSERT_TRUE(plan.ok()) << plan.status();
  ExpectXlasResults(**plan);
}

// Modules that XLA's compiler optimised, whose layouts have a meaning, also in fusions, loops and calls.
class EngineOnOptimised : public ::testing::TestWithParam<std::string> {};

TEST_P(EngineOnOptimised, ComputesWhatXlaDid) {
  const absl::StatusOr<Case> compiled = LoadCase(GetParam(), "optimised");
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto module = hlo::ParseModule(compiled->module_text);
  ASSERT_TRUE(module.ok()) << module.status();
  for (const bool reference_only : {false, true}) {
    const auto plan = engine::Compile(**module, {.threads = 2, .reference_only = reference_only});
    ASSERT_TRUE(plan.ok()) << plan.status();
    const auto results = engine::RunPlan(**plan, compiled->arguments);
    ASSERT_TRUE(results.ok()) << results.status();
    ASSERT_EQ(results->size(), compiled->expected.size());
    for (size_t r = 0; r < results->size(); ++r) {
      const absl::Status same = CompareArrays((*results)[r], compiled->expected[r], compiled->tolerances[r]);
      EXPECT_TRUE(same.ok()) << "result " << r << ": " << same;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Xla, EngineOnOptimised, ::testing::ValuesIn(CaseNames("optimised")), CaseName());

INSTANTIATE_TEST_SUITE_P(Jax, EngineConformance, ::testing::ValuesIn(CaseNames()), CaseName());

}  // namespace
}  // namespace hlod::testing
