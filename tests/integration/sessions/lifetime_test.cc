// Lifetimes: donated buffers of refused executes, buffers dropped by the thousand, forked children, and
// private daemons whose clients are gone.
#include <signal.h>

#include <fstream>

#include "absl/time/clock.h"
#include "tests/integration/support/harness.h"
#include "tests/integration/support/process.h"

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

TEST_F(Lifetime, ReadsBecomeReadyForACallerThatOnlyLooks) {
  const Client remote = Must(daemon_->Connect({.shared_memory = false}));
  for (const Client* const client : std::initializer_list<const Client*>{client_.get(), &remote}) {
    // Sizes for three transfers: inline, one piece, sixteen pieces.
    for (const int64_t elements : {1, 20'000, 4'000'000}) {
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

// The child makes every call of the public headers while the parent's threads hold locks of the session.
TEST_F(Lifetime, EveryCallFailsAtOnceInAForkedChildAndTheParentGoesOn) {
  Process program({Beside("crash_client"), daemon_->address(), "fork"});
  EXPECT_EQ(program.ReadLine(), "ready");
  EXPECT_EQ(program.WaitForExit(absl::Seconds(60)), 0);
}

TEST_F(Lifetime, AForkedChildOfAProgramThatHadNotConnectedConnects) {
  Process program({Beside("crash_client"), daemon_->address(), "fork_first"});
  EXPECT_EQ(program.ReadLine(), "ready");
  EXPECT_EQ(program.WaitForExit(absl::Seconds(60)), 0);
}

// ------------------------------------------------------------------------------------ private daemons

bool Lives(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return false;
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end + 2, 1) != "Z";
}

class PrivateLifetime : public ::testing::TestWithParam<std::string> {};

TEST_P(PrivateLifetime, AKilledProgramLeavesNoDaemonAndNothingThatHoldsItsOutput) {
  Process program({Beside("crash_client"), "private", GetParam()});
  const std::string line = program.ReadLine();
  const size_t at = line.find("pid ");
  ASSERT_NE(at, std::string::npos) << line;
  const int daemon = std::stoi(line.substr(at + 4));
  EXPECT_TRUE(Lives(daemon));
  program.Kill();
  EXPECT_TRUE(program.WaitForEndOfOutput(absl::Seconds(1))) << "the daemon holds the program's stdout";
  const absl::Time deadline = absl::Now() + absl::Seconds(8);
  while (Lives(daemon) && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(10));  // tidy: a poll.
  EXPECT_FALSE(Lives(daemon)) << "the private daemon still runs";
  if (Lives(daemon)) kill(daemon, SIGKILL);
  if (const size_t heir = line.find("sleep "); heir != std::string::npos) {
    const int pid = std::stoi(line.substr(heir + 6));
    EXPECT_TRUE(Lives(pid)) << "it had the program's sockets all the time";
    kill(pid, SIGKILL);
  }
}
INSTANTIATE_TEST_SUITE_P(While, PrivateLifetime, ::testing::Values("idle", "long_step", "spawn"),
                         [](const auto& info) {
                           if (info.param == "spawn") return "ItsChildHasTheSocket";
                           return info.param == "idle" ? "Idle" : "Running";
                         });

}  // namespace
}  // namespace hlod
