// What outlives what: donated buffers of refused executes, buffers dropped by the thousand, forked children,
// and private daemons whose clients are gone.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "absl/time/clock.h"
#include "tests/integration/harness.h"

namespace hlod {
namespace {

class Lifetime : public DaemonTest {};

// f32[262144] p -> (-p, a result of 1 GiB).
constexpr std::string_view kTooLarge = R"(HloModule large, input_output_alias={ {0}: (0, {}, may-alias) }

ENTRY main {
  p = f32[262144] parameter(0)
  n = f32[262144] negate(p)
  s = f32[1] slice(p), slice={[0:1]}
  r = f32[] reshape(s)
  b = f32[268435456] broadcast(r), dimensions={}
  ROOT t = (f32[262144], f32[268435456]) tuple(n, b)
}
)";

TEST_F(Lifetime, WhatWasDonatedToARefusedExecuteIsFreedWithItsLastName) {
  StartDaemon({.flags = {"--device-memory", "64MiB"}});
  const Executable large = Must(client_->CompileText(kTooLarge));
  for (const bool dropped_first : {false, true}) {
    Buffer p = Must(client_->device(0).Upload(Counting(262'144)));
    std::optional<Execution> execution = Must(large.Start(std::vector<Argument>{p}, {.donate = {0}}));
    const Future<void> done = execution->done;
    execution.reset();
    if (dropped_first) p = Buffer();
    EXPECT_EQ(KindOf(done.Await()), ErrorKind::kNoMemory);
    p = Buffer();
    const SessionStats stats = Must(client_->Stats());
    EXPECT_EQ(stats.live_bytes, 0);
    EXPECT_EQ(stats.live_buffers, 0);
  }
}

TEST_F(Lifetime, WhatWasDonatedToAnExecuteThatRanIsNotFreedAgain) {
  const Executable increment = Must(client_->CompileText(IncrementProgram(4)));
  Buffer x = Must(client_->device(0).Upload(Counting(4)));
  for (int i = 0; i < 100; ++i) x = Must(increment.Execute({x}, {.donate = {0}}))[0];
  EXPECT_EQ(Must(x.ToLiteral()).data<float>()[0], 100.0f);
  const SessionStats stats = Must(client_->Stats());
  EXPECT_EQ(stats.failed_commands, 0);
  EXPECT_EQ(stats.live_buffers, 1);
}

TEST_F(Lifetime, BuffersDroppedBehindALongExecuteAreAllFreed) {
  StartDaemon({.flags = {"--commands-in-flight-max", "1024"}});
  const Executable forever = Must(client_->CompileText(kForever));
  std::vector<Buffer> dropped;
  for (int i = 0; i < 20'000; ++i) {
    dropped.push_back(Must(client_->device(0).Placeholder(Shape::Array(hlo::kF32, {2}))));
  }
  const Buffer kept = Must(client_->device(0).Upload(Literal::Scalar<float>(7)));
  ASSERT_OK(client_->Sync());
  const Execution execution =
      Must(forever.Start(std::vector<Argument>{Literal::Scalar<int32_t>(0)}, {.deadline = absl::Seconds(1)}));
  dropped.clear();
  EXPECT_FALSE(execution.done.Await().ok());
  EXPECT_EQ(Must(kept.ToLiteral()), Literal::Scalar<float>(7));
  const SessionStats stats = Must(client_->Stats());
  EXPECT_EQ(stats.placeholders, 0);
  EXPECT_EQ(stats.failed_commands, 1) << "the execute, and no Free";
}

TEST_F(Lifetime, ReadsBecomeReadyForWhoeverOnlyLooks) {
  const Client remote = Must(daemon_->Connect({.shared_memory = false}));
  for (const Client* const client : std::initializer_list<const Client*>{client_.get(), &remote}) {
    for (const int64_t elements : {1, 20'000, 4'000'000}) {  // Inline, one piece, sixteen pieces.
      const Buffer buffer = Must(client->device(0).Upload(Counting(elements)));
      const Future<Literal> value = buffer.ToLiteralAsync();
      const absl::Time deadline = absl::Now() + absl::Seconds(20);
      while (!value.Ready() && absl::Now() < deadline)
        absl::SleepFor(absl::Milliseconds(1));  // tidy: a poll.
      EXPECT_TRUE(value.Ready()) << elements;
      EXPECT_EQ(Must(value.Await()), Counting(elements));
    }
  }
}

TEST_F(Lifetime, AForkedChildDoesNotTouchItsParentsSession) {
  Buffer x = Must(client_->device(0).Upload(Counting(100'000)));
  ASSERT_OK(client_->Sync());
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const bool refused =
        x.ToLiteral().status().code() == absl::StatusCode::kFailedPrecondition &&
        client_->device(0).Upload(Counting(100'000)).status().code() == absl::StatusCode::kFailedPrecondition;
    x = Buffer();
    client_.reset();
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Must(x.ToLiteral()), Counting(100'000));
}

// ------------------------------------------------------------------------------------ private daemons

// One step of some 10^13 operations: it looks at no cancellation for a long time.
constexpr std::string_view kLongStep = R"(HloModule long

ENTRY main {
  x = f32[] parameter(0)
  a = f32[16384,16384] broadcast(x), dimensions={}
  ROOT d = f32[16384,16384] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

bool Lives(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return false;
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end + 2, 1) != "Z";
}

// Starts a private daemon, says its process over the pipe, begins `program` if there is one, and waits to be
// killed. In a forked child.
[[noreturn]] void BePrivateClient(int out, std::string_view program) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(out, STDOUT_FILENO);
  close(out);
  setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
  unsetenv("HLOD_ADDRESS");
  const absl::StatusOr<Client> client = Client::Connect();
  if (!client.ok()) {
    std::fprintf(stderr, "%s\n", client.status().ToString().c_str());
    _exit(1);
  }
  std::optional<Execution> execution;
  if (!program.empty()) {
    const Executable executable = Must(client->CompileText(program));
    execution = Must(executable.Start(std::vector<Argument>{Literal::Scalar<float>(1)}));
    execution->done.Await(absl::Milliseconds(500)).IgnoreError();
  }
  const std::string line = client->daemon() + "\n";
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) _exit(1);
  for (;;) pause();
}

class PrivateLifetime : public ::testing::TestWithParam<std::string_view> {};

TEST_P(PrivateLifetime, AKilledProgramLeavesNobodyBehindWhoHoldsItsOutput) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t program = fork();
  if (program == 0) {
    close(ends[0]);
    BePrivateClient(ends[1], GetParam());
  }
  close(ends[1]);
  std::string said;
  for (char c = 0; c != '\n' && read(ends[0], &c, 1) == 1;) said += c;
  const size_t at = said.find("pid ");
  ASSERT_NE(at, std::string::npos) << said;
  const int daemon = std::stoi(said.substr(at + 4));
  EXPECT_TRUE(Lives(daemon));
  kill(program, SIGKILL);
  waitpid(program, nullptr, 0);
  pollfd output = {.fd = ends[0], .events = POLLIN};
  EXPECT_EQ(poll(&output, 1, 1000), 1) << "the daemon holds the program's stdout";
  close(ends[0]);
  const absl::Time deadline = absl::Now() + absl::Seconds(8);
  while (Lives(daemon) && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(10));  // tidy: a poll.
  EXPECT_FALSE(Lives(daemon)) << "the private daemon still runs";
  if (Lives(daemon)) kill(daemon, SIGKILL);
}
INSTANTIATE_TEST_SUITE_P(While, PrivateLifetime, ::testing::Values(std::string_view(), kLongStep),
                         [](const auto& info) { return info.param.empty() ? "Idle" : "Running"; });

}  // namespace
}  // namespace hlod
