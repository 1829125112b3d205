// Programs of several members through a daemon, a device each: as HLO, and as StableHLO that the client
// reads.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/import/import.h"
#include "tests/conformance/case.h"
#include "tests/integration/harness.h"

namespace hlod {
namespace {

testing::Daemon& SharedDaemon() {
  static testing::Daemon daemon = Must(testing::Daemon::Start({.flags = {"--devices", "8"}}));
  return daemon;
}

class CollectivesThroughTheDaemon : public ::testing::TestWithParam<std::string> {};

TEST_P(CollectivesThroughTheDaemon, MatchXla) {
  const testing::Case xla = Must(testing::LoadCase(GetParam(), "collectives"));
  std::vector<std::string> forms = {xla.module_text};
  if (std::ifstream file(xla.folder + "/module.mlir"); file) {
    std::stringstream text;
    text << file.rdbuf();
    forms.push_back(text.str());
  }
  const Client client = Must(SharedDaemon().Connect());
  for (const std::string& form : forms) {
    const auto module = ReadModule(form, {.for_execution = true});
    ASSERT_TRUE(module.ok()) << module.status();
    const Executable executable = Must(client.Compile(**module));
    const auto count = static_cast<size_t>(executable.member_count());
    std::vector<std::vector<Argument>> arguments(count);
    for (size_t m = 0; m < count; ++m) {
      for (const Literal& argument : xla.arguments)
        arguments[m].push_back(Must(client.device(static_cast<int>(m)).Upload(testing::PartOf(argument, m))));
    }
    const std::vector<std::vector<Buffer>> results = Must(executable.ExecuteMembers(arguments));
    ASSERT_EQ(results.size(), count);
    for (size_t m = 0; m < count; ++m) {
      ASSERT_EQ(results[m].size(), xla.expected.size());
      for (size_t i = 0; i < results[m].size(); ++i) {
        const absl::StatusOr<Literal> got = results[m][i].ToLiteral();
        ASSERT_TRUE(got.ok()) << got.status();
        EXPECT_OK(testing::CompareArrays(*got, testing::PartOf(xla.expected[i], m), xla.tolerances[i]))
            << xla.about << " member " << m << ", result " << i << "\n"
            << form;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CollectivesThroughTheDaemon,
                         ::testing::ValuesIn(testing::CaseNames("collectives")), testing::CaseName());

}  // namespace
}  // namespace hlod
