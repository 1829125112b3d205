// Every StableHLO program from JAX, read by the client, through a daemon (in process: tests/conformance).
#include <fstream>
#include <sstream>

#include "client/import/import.h"
#include "tests/conformance/case.h"
#include "tests/integration/support/harness.h"

namespace hlod {
namespace {

testing::Daemon& StablehloDaemon() {
  static testing::Daemon daemon = Must(testing::Daemon::Start({.flags = {"--devices", "4"}}));
  return daemon;
}
class StablehloThroughTheDaemon : public ::testing::TestWithParam<std::string> {};

TEST_P(StablehloThroughTheDaemon, MatchesXla) {
  const testing::Case jax = Must(testing::LoadCase(GetParam(), "stablehlo"));
  std::ifstream file(jax.folder + "/module.mlir", std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  ReadOptions options{.for_execution = true, .sizes = {}};
  for (const Literal& argument : jax.arguments) options.sizes[options.sizes.size()] = argument.shape().dims;
  const auto module = ReadModule(text.str(), options);
  ASSERT_TRUE(module.ok()) << module.status();
  const Client client = Must(StablehloDaemon().Connect());
  const Executable executable = Must(client.Compile(**module));
  // One participant, except in manual computations: there each participant takes whole arguments and returns
  // whole results.
  std::vector<std::vector<Argument>> arguments(static_cast<size_t>(executable.participant_count()));
  for (size_t m = 0; m < arguments.size(); ++m) {
    for (const Literal& argument : jax.arguments)
      arguments[m].push_back(Must(client.device(static_cast<int>(m)).Upload(argument)));
  }
  for (const std::vector<Buffer>& results : Must(executable.ExecuteParticipants(arguments))) {
    ASSERT_EQ(results.size(), jax.expected.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const absl::StatusOr<Literal> got = results[i].ToLiteral();
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_OK(testing::CompareArrays(*got, jax.expected[i], jax.tolerances[i])) << " result " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, StablehloThroughTheDaemon,
                         ::testing::ValuesIn(testing::CaseNames("stablehlo")), testing::CaseName());

}  // namespace
}  // namespace hlod
