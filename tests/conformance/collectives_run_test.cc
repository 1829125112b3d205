// Programs of several participants, with each opcode, mode of groups and type: the evaluator computes XLA's
// result for each participant.
#include <gtest/gtest.h>

#include "common/evaluator/participants.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"
#include "tests/conformance/case.h"

namespace hlod::testing {
namespace {

using hlo::Literal;

class CollectivesRun : public ::testing::TestWithParam<std::string> {};

TEST_P(CollectivesRun, GiveEachMemberXlasResults) {
  const absl::StatusOr<Case> xla = LoadCase(GetParam(), "collectives");
  ASSERT_TRUE(xla.ok()) << xla.status();
  const auto module = hlo::ParseModule(xla->module_text);
  ASSERT_TRUE(module.ok()) << module.status();
  ASSERT_EQ(hlo::Verify(**module), absl::OkStatus());
  const auto count = static_cast<size_t>(hlo::ParticipantsOf(**module).count());
  std::vector<std::vector<Literal>> parts(count);
  std::vector<std::vector<const Literal*>> arguments(count);
  for (size_t m = 0; m < count; ++m) {
    for (const Literal& argument : xla->arguments) parts[m].push_back(PartOf(argument, m));
    for (const Literal& part : parts[m]) arguments[m].push_back(&part);
  }
  const absl::StatusOr<std::vector<Literal>> results = EvaluateParticipants(**module, arguments);
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), count);
  for (size_t m = 0; m < count; ++m) {
    const std::vector<const Literal*> leaves = (*results)[m].Leaves();
    ASSERT_EQ(leaves.size(), xla->expected.size());
    for (size_t i = 0; i < leaves.size(); ++i) {
      const absl::Status same = CompareArrays(*leaves[i], PartOf(xla->expected[i], m), xla->tolerances[i]);
      EXPECT_TRUE(same.ok()) << xla->about << "\nparticipant " << m << ", result " << i << ": "
                             << same.message();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Collectives, CollectivesRun, ::testing::ValuesIn(CaseNames("collectives")),
                         CaseName());

}  // namespace
}  // namespace hlod::testing
