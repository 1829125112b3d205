// Connections are counted by their owners, and those that say nothing do not stay.
#include "server/grpc/connections.h"

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "server/grpc/peer_names.h"
#include "server/grpc/server.h"
#include "tests/unit/server/device/testing.h"

namespace hlod::grpc_server {
namespace {

// A daemon on a unix socket, and sockets connected to it.
class ServerConnections : public testing::Test {
 protected:
  ~ServerConnections() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }
  void Start(absl::Duration greeting, const Limits& limits = {},
             const UserServers::Options& user_servers = {}) {
    spdlog::set_level(spdlog::level::err);
    char folder[] = "/tmp/hlod-connections-XXXXXX";
    folder_ = mkdtemp(folder);
    devices_ = device::MakeDevices(clock_, limits);
    ServerOptions options;
    options.listen.push_back(rpc::ParseEndpoint("unix:" + path()).value());
    options.greeting = greeting;
    options.user_servers = user_servers;
    server_ = Server::Start(std::move(options), *devices_).value();
  }
  std::string path() const { return folder_ + "/hlod.sock"; }
  rpc::Descriptor Connect() const {
    rpc::Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }
  // Whether the daemon ends it within `timeout`.
  static bool Ends(const rpc::Descriptor& fd, absl::Duration timeout) {
    const absl::Time deadline = absl::Now() + timeout;
    char bytes[256];
    for (;;) {
      pollfd polled{fd.get(), POLLIN, 0};
      const auto ms = static_cast<int>(absl::ToInt64Milliseconds(deadline - absl::Now()));
      if (ms <= 0 || poll(&polled, 1, ms) <= 0) return false;
      if (recv(fd.get(), bytes, sizeof(bytes), 0) <= 0) return true;  // Else gRPC's first frames.
    }
  }

  Clock clock_;
  std::string folder_;
  std::unique_ptr<device::Devices> devices_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerConnections, OneUserHasAFewAndGetsNewOnesForOldOnes) {
  Start(absl::Minutes(10), Limits{.connections_per_user_max = 4});
  std::vector<rpc::Descriptor> open;
  for (int i = 0; i < 4; ++i) open.push_back(Connect());
  EXPECT_TRUE(Ends(Connect(), absl::Seconds(20))) << "the fifth";
  for (const rpc::Descriptor& fd : open) EXPECT_FALSE(Ends(fd, absl::Milliseconds(1)));
  open.pop_back();
  EXPECT_FALSE(Ends(Connect(), absl::Milliseconds(200))) << "in the place of the fourth";
}

TEST_F(ServerConnections, ThatSayNothingEnd) {
  Start(absl::Milliseconds(200));
  EXPECT_TRUE(Ends(Connect(), absl::Seconds(20)));
}

TEST_F(ServerConnections, WithoutACallEnd) {
  Start(absl::Milliseconds(300));
  const auto channel = grpc::CreateChannel("unix:" + path(), grpc::InsecureChannelCredentials());
  channel->GetState(/*try_to_connect=*/true);
  ASSERT_TRUE(channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(20)));
  EXPECT_TRUE(channel->WaitForStateChange(GRPC_CHANNEL_READY,
                                          std::chrono::system_clock::now() + std::chrono::seconds(20)));
}

TEST(Connections, ThatResetCallsAreClosedAndOthersOfTheirUserAreNot) {
  Connections connections({.per_owner_max = 8});
  int calm[2], resetting[2], others[2];
  for (int* const ends : {calm, resetting, others})
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  ASSERT_TRUE(connections.Add(calm[0], "user 1", /*tcp=*/false));
  ASSERT_TRUE(connections.Add(resetting[0], "user 1", /*tcp=*/false));
  ASSERT_TRUE(connections.Add(others[0], "user 2", /*tcp=*/false));
  const auto send_all = [](int fd, const std::string& bytes) {
    return send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  };
  ASSERT_TRUE(send_all(calm[1], std::string(100, 'x')));
  EXPECT_FALSE(connections.CloseResetting("user 1", "unix:")) << "None resets calls.";
  // RST_STREAM of stream 1: CANCEL (RFC 9113, 6.4).
  const std::string reset("\0\0\4\3\0\0\0\0\1\0\0\0\x8", 13);
  ASSERT_TRUE(send_all(resetting[1], reset + reset));
  ASSERT_TRUE(send_all(others[1], reset + reset + reset));
  EXPECT_TRUE(connections.CloseResetting("user 1", "unix:"));
  EXPECT_FALSE(send_all(resetting[1], "x"));
  EXPECT_TRUE(send_all(calm[1], "x"));
  EXPECT_TRUE(send_all(others[1], "x")) << "Another user's.";
  for (int* const ends : {calm, resetting, others})
    for (const int end : {ends[0], ends[1]}) close(end);
}

TEST(ResetBudget, IsBoundedAtOnceAndThenBySecond) {
  ResetBudget budget;
  const absl::Time start = absl::UnixEpoch();
  for (int i = 0; i < ResetBudget::kAtOnce; ++i) EXPECT_TRUE(budget.Spend(start)) << i;
  EXPECT_FALSE(budget.Spend(start));
  for (int i = 0; i < ResetBudget::kAgain; ++i) EXPECT_TRUE(budget.Spend(start)) << i;
  EXPECT_FALSE(budget.Spend(start));
  // What a client may do for ever.
  for (int second = 1; second <= 100; ++second)
    for (int i = 0; i < ResetBudget::kPerSecond; ++i)
      EXPECT_TRUE(budget.Spend(start + absl::Seconds(second))) << second;
}

TEST_F(ServerConnections, OneListenerAtATimeHasAPath) {
  Start(absl::Seconds(10));
  std::atomic<int> holders = 0, most = 0;
  const rpc::Endpoint endpoint = rpc::ParseEndpoint("unix:" + folder_ + "/contended.sock").value();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const absl::StatusOr<ListeningSocket> socket = ListeningSocket::Open(endpoint);
        if (!socket.ok()) continue;
        const int now = ++holders;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        --holders;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

// How many threads of this process are a user's server.
int CountServerThreads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    if (std::getline(file, name) && name.starts_with("user ")) ++count;
  }
  return count;
}

TEST_F(ServerConnections, AUserWhoIsGoneHasNoServer) {
  Start(absl::Minutes(10), {}, {.idle = absl::ZeroDuration()});
  for (int round = 0; round < 2; ++round) {
    rpc::Descriptor fd = Connect();
    char byte;
    ASSERT_EQ(recv(fd.get(), &byte, 1, 0), 1) << "gRPC's first frame";
    EXPECT_EQ(CountServerThreads(), 1);
    fd = rpc::Descriptor();
    EXPECT_TRUE(device::Eventually([] { return CountServerThreads() == 0; }));
  }
}

TEST(PeerNames, ASocketAndAPeerNameGiveTheSameOwner) {
  EXPECT_EQ(OwnerOfPeerName("ipv4:10.1.2.3:5555"), "host 10.1.2.3");
  EXPECT_EQ(OwnerOfPeerName("ipv6:%5B::1%5D:5555"), "host ::1");
  EXPECT_EQ(OwnerOfPeerName("ipv6:%5Bfe80::1%25eth0%5D:5555"), "host fe80::1%eth0");
  const rpc::Descriptor listening(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(listening.get(), generic, size), 0);
  ASSERT_EQ(listen(listening.get(), 1), 0);
  ASSERT_EQ(getsockname(listening.get(), generic, &size), 0);
  const rpc::Descriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(client.get(), generic, size), 0);
  EXPECT_EQ(PeerNameOfSocket(client.get()), absl::StrCat("ipv4:127.0.0.1:", ntohs(address.sin_port)));
  EXPECT_EQ(OwnerOfSocket(client.get()), OwnerOfPeerName(PeerNameOfSocket(client.get())));
  EXPECT_EQ(OwnerOfSocket(-1), "host unknown");
}

}  // namespace
}  // namespace hlod::grpc_server
