// A program that computes for minutes by itself, without polling, keeps its session and its data.
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "absl/time/clock.h"
#include "tests/integration/support/harness.h"

namespace hlod {
namespace {

// All of the daemon's time limits for a peer are shorter than the silence. HLOD_TEST_SILENCE_S makes it
// longer for runs by hand.
constexpr const char* kFlags[] = {"--greeting-us", "500000", "--tcp-silence-us", "4000000",
                                  "--grace-us",    "100000", "--upload-wait-us", "1000000"};

absl::Duration Silence() {
  const char* const seconds = std::getenv("HLOD_TEST_SILENCE_S");
  return absl::Seconds(seconds == nullptr ? 6 : std::atoi(seconds));
}

std::string DaemonBinary() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../bin/hlod").lexically_normal();
}

// Connects to `address`, uploads, is silent, and goes on.
void UseAfterSilence(Client& client, const char* what) {
  const Executable add = Must(client.CompileText(AddProgram(4)));
  const Buffer x = Must(client.device(0).Upload(Counting(4)));
  ASSERT_OK(client.Sync());
  absl::SleepFor(Silence());  // tidy: silence is what is tested.
  const std::vector<Buffer> sum = Must(add.Execute({x, x}));
  const absl::StatusOr<Literal> value = sum[0].ToLiteral();
  ASSERT_TRUE(value.ok()) << what << ": " << value.status();
  EXPECT_EQ(value->data<float>()[3], 6.0f) << what;  // 3 + 3
  const absl::StatusOr<SessionStats> stats = client.Stats();
  ASSERT_TRUE(stats.ok()) << what << ": " << stats.status();
  EXPECT_EQ(stats->replayed_commands, 0) << what;
}

TEST(Silence, OverAUnixSocketLosesNothing) {
  const testing::Daemon daemon =
      Must(testing::Daemon::Start({.flags = std::vector<std::string>(std::begin(kFlags), std::end(kFlags))}));
  Client client = Must(daemon.Connect());
  UseAfterSilence(client, "unix");
}

TEST(Silence, OverTcpLosesNothing) {
  const testing::Daemon daemon = Must(testing::Daemon::Start(
      {.tcp = true, .flags = std::vector<std::string>(std::begin(kFlags), std::end(kFlags))}));
  Client client = Must(daemon.ConnectTcp());
  UseAfterSilence(client, "TCP");
}

TEST(Silence, WithAPrivateDaemonLosesNothing) {
  char folder[] = "/tmp/hlod-silence-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string wrapper = std::string(folder) + "/hlod";
  {
    std::ofstream script(wrapper);
    script << "#!/bin/sh\nexec " << DaemonBinary() << " \"$@\"";
    for (const char* flag : kFlags) script << " " << flag;
    script << "\n";
  }
  std::filesystem::permissions(wrapper, std::filesystem::perms::owner_all);
  setenv("HLOD_DAEMON", wrapper.c_str(), 1);
  setenv("XDG_RUNTIME_DIR", folder, 1);
  unsetenv("HLOD_ADDRESS");
  {
    Client client = Must(Client::Connect());
    UseAfterSilence(client, "private");
  }
  unsetenv("HLOD_DAEMON");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hlod
