// Connecting: refused addresses and the reasons, the choice of the daemon, the data that may travel over TCP,
// and how a vanished peer is noticed.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "absl/time/clock.h"
#include "tests/integration/support/harness.h"

namespace hlod {
namespace {

void ExpectError(const absl::Status& status, ErrorKind kind, const std::vector<std::string>& parts) {
  EXPECT_EQ(KindOf(status), kind) << status;
  for (const std::string& part : parts)
    EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << status;
}

TEST(Connect, ADescriptorThatIsNotAConnectedSocketIsRefused) {
  const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int lone = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  for (const int fd : {99'999, file, lone}) {
    const std::string number = std::to_string(fd);
    ExpectError(Client::Connect("fd:" + number).status(), ErrorKind::kArgument,
                {"Descriptor " + number + " is not a connected socket"});
  }
  EXPECT_EQ(close(file), 0) << "it stays the program's";
  EXPECT_EQ(close(lone), 0);
}

TEST(Connect, TheVariableTakesPrivateAsAnAddress) {
  const ScopedVariable address("HLOD_ADDRESS", "private");
  const Client one = Must(Client::Connect()), other = Must(Client::Connect());
  EXPECT_NE(one.daemon(), other.daemon()) << "each has a daemon of its own";
  EXPECT_OK(one.Ping().status());
  // Without permission to start a daemon, the error says why none was found.
  ExpectError(Client::Connect({.private_daemon = false}).status(), ErrorKind::kLostSession,
              {"HLOD_ADDRESS is \"private\""});
  ExpectError(Admin::Connect({}).status(), ErrorKind::kLostSession, {"HLOD_ADDRESS is \"private\""});
  // A given address has priority.
  ExpectError(Client::Connect("/nonexistent/hlod.sock").status(), ErrorKind::kLostSession,
              {"/nonexistent/hlod.sock"});
}

// The daemon closes an administrator's connection that is idle; the next call makes another.
TEST(Connect, AnAdministrationThatWasIdleGoesOn) {
  const testing::Daemon daemon = Must(testing::Daemon::Start({.flags = {"--greeting-us", "500000"}}));
  const auto descriptors = [&] {
    const std::filesystem::directory_iterator all("/proc/" + std::to_string(daemon.pid()) + "/fd"), end;
    return std::distance(all, end);
  };
  const Admin admin = Must(daemon.Administration());
  ASSERT_OK(admin.Stats().status());
  const auto open = descriptors();
  const absl::Time deadline = absl::Now() + kPatience;
  while (descriptors() >= open && absl::Now() < deadline)
    absl::SleepFor(absl::Milliseconds(5));  // tidy: polls with a deadline.
  ASSERT_LT(descriptors(), open) << "the daemon keeps an idle connection";
  EXPECT_OK(admin.Stats().status());
}

TEST(Connect, ErrorsOfAddressesHaveTheirKinds) {
  ExpectError(Client::Connect("localhost").status(), ErrorKind::kArgument, {"localhost"});
  const absl::Status unknown = Client::Connect("no-such-host.invalid:8470").status();
  EXPECT_NE(unknown.message().find("no-such-host.invalid"), std::string::npos) << unknown;
  EXPECT_EQ(unknown.message().find("TLS"), std::string::npos) << unknown;
  const ScopedVariable nowhere("XDG_RUNTIME_DIR", "/nonexistent");
  ExpectError(Client::Connect({.private_daemon = false}).status(), ErrorKind::kLostSession,
              {"/nonexistent/hlod.sock"});
}

TEST(Connect, ADaemonThatThisUserMayNotConnectToIsNotTakenForNone) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("connect-test-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (folder / "hlod.sock").c_str(), sizeof(address.sun_path) - 1);
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listening, 1), 0);
  ASSERT_EQ(chmod(address.sun_path, 0), 0);
  const ScopedVariable here("XDG_RUNTIME_DIR", folder.string());
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);  // Root may connect to anything.
  }
  const absl::Status status = Client::Connect().status();
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  ExpectError(status, ErrorKind::kAuth, {"unix:" + (folder / "hlod.sock").string(), "group "});
  close(listening);
  std::filesystem::remove_all(folder);
}

// Another user's program listens where this user's daemon would be looked for, and would receive the data. It
// is accepted only by its address.
TEST(Connect, AListenerOfAnotherUserIsNotTakenForTheUsersDaemon) {
  if (geteuid() != 0) GTEST_SKIP() << "Only root can be another user.";
  const testing::Daemon daemon = Must(testing::Daemon::Start());
  const std::string path = daemon.address().substr(std::string("unix:").size());
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("connect-test-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (folder / "hlod.sock").c_str(), sizeof(address.sun_path) - 1);
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(seteuid(65534), 0);  // The kernel names as peer the user that called listen().
  const bool listens = bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
                       listen(listening, 8) == 0;
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_TRUE(listens);
  {
    const ScopedVariable here("XDG_RUNTIME_DIR", folder.string());
    ExpectError(Client::Connect().status(), ErrorKind::kAuth,
                {"unix:" + (folder / "hlod.sock").string() + " is not trusted", "user 65534"});
  }
  close(listening);
  std::filesystem::remove_all(folder);
  const ScopedVariable here("XDG_RUNTIME_DIR", std::filesystem::path(path).parent_path().string());
  EXPECT_TRUE(Client::Connect({.private_daemon = false}).ok()) << "This user's own is.";
}

TEST(Connect, APrivateDaemonCanBeAskedForWhereOneRuns) {
  const testing::Daemon daemon = Must(testing::Daemon::Start());
  const ScopedVariable running("HLOD_ADDRESS", daemon.address());
  EXPECT_EQ(Must(Client::Connect()).address(), daemon.address());
  const Client client = Must(Client::Connect({.address = "private", .daemon_flags = {"--devices", "3"}}));
  EXPECT_EQ(client.device_count(), 3);
}

TEST(Connect, APrivateDaemonThatCannotStartSaysWhy) {
  ExpectError(Client::Connect({.address = "private", .daemon_flags = {"--nonsense"}}).status(),
              ErrorKind::kLostSession, {"exit code 2", "nonsense"});
}

TEST(Connect, AClosedSessionIsALostOne) {
  const testing::Daemon daemon = Must(testing::Daemon::Start());
  const Client client = Must(daemon.Connect());
  EXPECT_OK(client.Close());
  ExpectError(client.Sync(), ErrorKind::kLostSession, {"closed"});
}

// 192.0.2.0/24 is reserved for documentation: a connection attempt would time out.
TEST(Connect, ATokenIsNotSentToAnotherHostWithoutTls) {
  const ConnectOptions options{.address = "192.0.2.1:8470", .token = "sesame", .timeout = absl::Seconds(60)};
  for (const absl::Status& status : {Client::Connect(options).status(), Admin::Connect(options).status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_NE(status.message().find("192.0.2.1:8470 without TLS"), std::string::npos) << status;
    EXPECT_EQ(status.message().find("sesame"), std::string::npos) << status;
  }
}

TEST(Connect, ATokenIsSentOverTheLoopback) {
  const testing::Daemon daemon = Must(testing::Daemon::Start({.tcp = true}));
  const Client client = Must(daemon.ConnectTcp({.token = "sesame"}));
  EXPECT_OK(client.Sync());
}

int OptionOf(int fd, int level, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  return getsockopt(fd, level, option, &value, &size) == 0 ? value : -1;
}

TEST(Connect, ATcpPeerThatHasVanishedIsNoticedByTheKernel) {
  const testing::Daemon daemon = Must(testing::Daemon::Start({.tcp = true}));
  const Client client = Must(daemon.ConnectTcp());
  const int port = std::atoi(daemon.tcp_address().substr(daemon.tcp_address().rfind(':') + 1).c_str());
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::atoi(entry.path().filename().c_str());
    sockaddr_in peer = {};
    socklen_t size = sizeof(peer);
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.sin_family != AF_INET ||
        ntohs(peer.sin_port) != port)
      continue;
    ++found;
    EXPECT_EQ(OptionOf(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_LE(OptionOf(fd, IPPROTO_TCP, TCP_KEEPIDLE) +
                  OptionOf(fd, IPPROTO_TCP, TCP_KEEPINTVL) * OptionOf(fd, IPPROTO_TCP, TCP_KEEPCNT),
              30);
    EXPECT_EQ(OptionOf(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 30'000);
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace hlod
