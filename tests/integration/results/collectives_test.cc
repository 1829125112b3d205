// Programs of several participants through a daemon, one device per participant: as HLO, and as StableHLO
// that the client reads.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/import/import.h"
#include "tests/conformance/case.h"
#include "tests/integration/support/harness.h"

namespace hlod {
namespace {

testing::Daemon& CollectivesDaemon() {
  static testing::Daemon daemon = Must(testing::Daemon::Start({.flags = {"--devices", "8"}}));
  return daemon;
}

std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class CollectivesThroughTheDaemon : public ::testing::TestWithParam<std::string> {};

TEST_P(CollectivesThroughTheDaemon, MatchXla) {
  const testing::Case xla = Must(testing::LoadCase(GetParam(), "collectives"));
  std::vector<std::string> forms = {xla.module_text};
  if (std::string text = FileText(xla.folder + "/module.mlir"); !text.empty())
    forms.push_back(std::move(text));
  const Client client = Must(CollectivesDaemon().Connect());
  for (const std::string& form : forms) {
    const auto module = ReadModule(form, {.for_execution = true});
    ASSERT_TRUE(module.ok()) << module.status();
    const Executable executable = Must(client.Compile(**module));
    const auto count = static_cast<size_t>(executable.participant_count());
    std::vector<std::vector<Argument>> arguments(count);
    for (size_t m = 0; m < count; ++m) {
      for (const Literal& argument : xla.arguments)
        arguments[m].push_back(Must(client.device(static_cast<int>(m)).Upload(testing::PartOf(argument, m))));
    }
    const std::vector<std::vector<Buffer>> results = Must(executable.ExecuteParticipants(arguments));
    ASSERT_EQ(results.size(), count);
    for (size_t m = 0; m < count; ++m) {
      ASSERT_EQ(results[m].size(), xla.expected.size());
      for (size_t i = 0; i < results[m].size(); ++i) {
        const absl::StatusOr<Literal> got = results[m][i].ToLiteral();
        ASSERT_TRUE(got.ok()) << got.status();
        EXPECT_OK(testing::CompareArrays(*got, testing::PartOf(xla.expected[i], m), xla.tolerances[i]))
            << xla.about << " participant " << m << ", result " << i << "\n"
            << form;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CollectivesThroughTheDaemon,
                         ::testing::ValuesIn(testing::CaseNames("collectives")), testing::CaseName());

// Programs that divide whole arrays themselves (jax.shard_map, jax.pmap), in each form that JAX writes: every
// participant takes the whole arguments and returns the whole results.
class ManualThroughTheDaemon : public ::testing::TestWithParam<std::string> {};

TEST_P(ManualThroughTheDaemon, MatchXla) {
  const testing::Case xla = Must(testing::LoadCase(GetParam(), "manual"));
  const Client client = Must(CollectivesDaemon().Connect());
  for (const char* form : {"module.pb", "module.mlir", "module.mlirbc"}) {
    const std::string bytes = FileText(xla.folder + "/" + form);
    if (bytes.empty()) continue;  // jax.export does not support pmap.
    const auto module = ReadModule(bytes, {.for_execution = true});
    ASSERT_TRUE(module.ok()) << form << ": " << module.status();
    const Executable executable = Must(client.Compile(**module));
    const auto count = static_cast<size_t>(executable.participant_count());
    EXPECT_GT(count, 1u) << form;
    std::vector<std::vector<Argument>> arguments(count);
    for (size_t m = 0; m < count; ++m) {
      for (const Literal& argument : xla.arguments)
        arguments[m].push_back(Must(client.device(static_cast<int>(m)).Upload(argument)));
    }
    const std::vector<std::vector<Buffer>> results = Must(executable.ExecuteParticipants(arguments));
    for (size_t m = 0; m < count; ++m) {
      ASSERT_EQ(results[m].size(), xla.expected.size());
      for (size_t i = 0; i < results[m].size(); ++i) {
        const absl::StatusOr<Literal> got = results[m][i].ToLiteral();
        ASSERT_TRUE(got.ok()) << form << ": " << got.status();
        EXPECT_OK(testing::CompareArrays(*got, xla.expected[i], xla.tolerances[i]))
            << form << ": " << xla.about << " participant " << m << ", result " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ManualThroughTheDaemon, ::testing::ValuesIn(testing::CaseNames("manual")),
                         testing::CaseName());

}  // namespace
}  // namespace hlod
