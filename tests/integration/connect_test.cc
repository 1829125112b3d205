// Connections over TCP: what may travel over them, and how a peer that has vanished is noticed.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>

#include "tests/integration/harness.h"

namespace hlod {
namespace {

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
