// Connections are counted by their owners, and those that say nothing do not stay.
#include "server/grpc/connections.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
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

#include "common/rpc/grpc/status.h"
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
  void Start(absl::Duration greeting, const Limits& limits = {}) {
    spdlog::set_level(spdlog::level::err);
    char folder[] = "/tmp/hlod-connections-XXXXXX";
    folder_ = mkdtemp(folder);
    devices_ = device::MakeDevices(clock_, limits);
    ServerOptions options;
    options.listen.push_back(rpc::ParseEndpoint("unix:" + path()).value());
    options.greeting = greeting;
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

TEST_F(ServerConnections, ThatAreRefusedAreToldWhy) {
  Start(absl::Minutes(10), Limits{.connections_per_user_max = 2});
  const rpc::Descriptor one = Connect(), two = Connect();
  const auto channel = grpc::CreateChannel("unix:" + path(), grpc::InsecureChannelCredentials());
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  grpc::CompletionQueue queue;
  grpc::ByteBuffer response;
  grpc::Status end;
  const auto call =
      stub.PrepareUnaryCall(&context, "/hlod.v1.Session/Connect", ToByteBuffer(std::string()), &queue);
  call->StartCall();
  call->Finish(&response, &end, nullptr);
  void* tag;
  bool ok;
  queue.Next(&tag, &ok);
  const absl::Status status = rpc::FromGrpc(end);
  EXPECT_EQ(KindOf(status), ErrorKind::kLimit) << status;
  EXPECT_EQ(status.message(), absl::StrCat("2 connections of user ", geteuid(),
                                           " are open: the limit connections_per_user_max is 2."));
}

TEST(Connections, HaveATotalOfWhichSomeAreForAdministrators) {
  spdlog::set_level(spdlog::level::err);
  Connections connections({.per_owner_max = 8, .most = 3, .for_administrators = 1, .who = "it"});
  int pairs[4][2];
  for (auto& pair : pairs) ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const absl::StatusOr<uint64_t> first = connections.Add(pairs[0][0], {.owner = "one"});
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(connections.Add(pairs[1][0], {.owner = "two"}).ok());
  const absl::Status refused = connections.Add(pairs[2][0], {.owner = "three"}).status();
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit);
  EXPECT_EQ(refused.message(), "2 connections are open, as many as it takes.");
  EXPECT_TRUE(connections.Add(pairs[2][0], {.owner = "root", .administrator = true}).ok());
  EXPECT_FALSE(connections.Add(pairs[3][0], {.owner = "root", .administrator = true}).ok());
  EXPECT_TRUE(connections.IsOpen(*first));
  connections.Close(*first);
  connections.Tick();
  EXPECT_FALSE(connections.IsOpen(*first));
  EXPECT_TRUE(connections.Add(pairs[3][0], {.owner = "root", .administrator = true}).ok());
  for (auto& pair : pairs)
    for (const int end : pair) close(end);
}

TEST_F(ServerConnections, ThatResetCallsWithoutEndAreClosedAndOthersOfTheirUserAreNot) {
  Start(absl::Minutes(10));
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  const auto connect = [&] {
    const auto channel =
        grpc::CreateCustomChannel("unix:" + path(), grpc::InsecureChannelCredentials(), arguments);
    channel->GetState(/*try_to_connect=*/true);
    EXPECT_TRUE(channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(20)));
    return channel;
  };
  const auto calm = connect(), resetting = connect();
  grpc::GenericStub stub(resetting);
  // The next call connects again: the connection counts as closed when it was once seen so.
  bool closed = false;
  for (int i = 0; i < 100'000 && !closed; ++i) {
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareCall(&context, "/hlod.v1.Session/Connect", &queue);
    void* tag;
    bool ok;
    call->StartCall(nullptr);
    queue.Next(&tag, &ok);
    context.TryCancel();
    grpc::Status status;
    call->Finish(&status, nullptr);
    queue.Next(&tag, &ok);
    queue.Shutdown();
    while (queue.Next(&tag, &ok)) {
    }
    closed = resetting->GetState(false) != GRPC_CHANNEL_READY;
  }
  EXPECT_TRUE(closed);
  EXPECT_EQ(calm->GetState(false), GRPC_CHANNEL_READY);
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

TEST_F(ServerConnections, ThatAreGoneHaveNoServer) {
  Start(absl::Minutes(10));
  for (int round = 0; round < 2; ++round) {
    rpc::Descriptor one = Connect(), two = Connect();
    char byte;
    for (const rpc::Descriptor* fd : {&one, &two})
      ASSERT_EQ(recv(fd->get(), &byte, 1, 0), 1) << "gRPC's first frame";
    EXPECT_TRUE(device::Eventually([] { return CountServerThreads() == 2; }));
    one = rpc::Descriptor();
    two = rpc::Descriptor();
    EXPECT_TRUE(device::Eventually([] { return CountServerThreads() == 0; }));
  }
}

TEST(PeerNames, ASocketSaysItsHost) {
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
  EXPECT_EQ(OwnerOfSocket(client.get()), "host 127.0.0.1");
  EXPECT_EQ(OwnerOfSocket(-1), "host unknown");
}

}  // namespace
}  // namespace hlod::grpc_server
