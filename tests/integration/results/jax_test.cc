// Every module that JAX lowered, through a daemon over a unix socket and over TCP (in process:
// tests/conformance).
#include "tests/conformance/case.h"
#include "tests/integration/support/harness.h"

namespace hlod {
namespace {

// One daemon for all 100 cases, each with its own session.
testing::Daemon& JaxDaemon() {
  static testing::Daemon daemon = Must(testing::Daemon::Start({.tcp = true}));
  return daemon;
}
class JaxThroughTheDaemon : public ::testing::TestWithParam<std::string> {};

void RunCase(const Client& client, const testing::Case& jax) {
  const Executable executable = Must(client.CompileSerialized(jax.module_proto));
  ASSERT_EQ(executable.argument_shapes().size(), jax.arguments.size());
  std::vector<Argument> arguments;
  for (const Literal& argument : jax.arguments) arguments.push_back(Must(client.device(0).Upload(argument)));
  const std::vector<Buffer> results = Must(executable.Execute(arguments));
  ASSERT_EQ(results.size(), jax.expected.size());
  std::vector<Future<Literal>> reads;
  for (const Buffer& result : results) reads.push_back(result.ToLiteralAsync());
  for (size_t i = 0; i < results.size(); ++i) {
    const absl::StatusOr<Literal> got = reads[i].Await();
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_OK(testing::CompareArrays(*got, jax.expected[i], jax.tolerances[i])) << " result " << i;
  }
}

TEST_P(JaxThroughTheDaemon, MatchesOverUnixSocketAndTcp) {
  const testing::Case jax = Must(testing::LoadCase(GetParam()));
  RunCase(Must(JaxDaemon().Connect()), jax);
  RunCase(Must(JaxDaemon().ConnectTcp()), jax);
}

INSTANTIATE_TEST_SUITE_P(Cases, JaxThroughTheDaemon, ::testing::ValuesIn(testing::CaseNames()),
                         testing::CaseName());

}  // namespace
}  // namespace hlod
