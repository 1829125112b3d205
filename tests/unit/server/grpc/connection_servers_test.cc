// A connection has a server while it is open, and one peer that hoards connections does not affect another.
#include "server/grpc/connection_servers.h"
#include "common/base/errors/error.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "server/grpc/peer_names.h"
#include "server/session/processes.h"
#include "tests/unit/server/device/testing.h"

namespace hlod::grpc_server {
namespace {

class ServersOfConnections : public testing::Test {
 protected:
  ServersOfConnections() { spdlog::set_level(spdlog::level::err); }
  ~ServersOfConnections() override { servers_.Shutdown(); }
  // Returns the user's end of a connection that was just accepted.
  rpc::Descriptor Connect(
      uint32_t user, std::function<void()> close = [] {}) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    const absl::StatusOr<uint64_t> id = connections_.Add(ends[0], {.owner = OwnerOfUser(user)});
    EXPECT_TRUE(id.ok()) << id.status();
    GrpcServer::Options options;
    options.peer = {.local = true, .description = "", .owner = OwnerOfUser(user), .user = user};
    options.close = std::move(close);
    servers_.Add(*id, OwnerOfUser(user),
                 std::make_unique<GrpcServer>(registry_, health_, silent_, std::move(options)),
                 ConnectedSocket(ends[0]));
    return rpc::Descriptor(ends[1]);
  }
  // Returns true when gRPC sends bytes, false when the connection ends.
  static bool IsServed(const rpc::Descriptor& fd) {
    pollfd polled{fd.get(), POLLIN, 0};
    char byte;
    return poll(&polled, 1, 20'000) == 1 && recv(fd.get(), &byte, 1, 0) == 1;
  }
  bool Eventually(size_t servers) {
    return device::Eventually([&] {
      connections_.Tick();
      servers_.Tick();
      return servers_.size() == servers;
    });
  }

  const Clock clock_;
  const std::unique_ptr<device::Devices> devices_ = device::MakeDevices(clock_);
  session::WatchedProcesses processes_{[](int64_t) {}};
  session::Registry registry_{*devices_, processes_, {}};
  Health health_{registry_};
  SilentCalls silent_;
  Connections connections_{{.per_owner_max = 8}};
  std::atomic<int> many_ended_ = 0;
  ConnectionServers servers_{connections_, /*ending_per_owner_max=*/16, [this] { ++many_ended_; }};
};

TEST_F(ServersOfConnections, BeginAndEndWithThem) {
  rpc::Descriptor one = Connect(1000), two = Connect(1000), three = Connect(1001);
  EXPECT_TRUE(IsServed(one));
  EXPECT_TRUE(IsServed(two));
  EXPECT_TRUE(IsServed(three));
  servers_.Tick();
  EXPECT_EQ(servers_.size(), 3u);
  one = rpc::Descriptor();
  EXPECT_TRUE(Eventually(2));
  EXPECT_EQ(connections_.CountOf(OwnerOfUser(1000)), 1);
  two = rpc::Descriptor();
  three = rpc::Descriptor();
  EXPECT_TRUE(Eventually(0));
}

// Sixteen connections that come and go between two ticks leave sixteen servers to end: the next connection is
// refused until some have ended. Open connections are not counted.
TEST_F(ServersOfConnections, CountUntilTheyHaveEnded) {
  const rpc::Descriptor open = Connect(1000);
  for (int i = 0; i < 16; ++i) {
    EXPECT_TRUE(servers_.CheckRoom(OwnerOfUser(1000)).ok()) << i;
    EXPECT_TRUE(IsServed(Connect(1000)));
    connections_.Tick();
  }
  const absl::Status full = servers_.CheckRoom(OwnerOfUser(1000));
  EXPECT_EQ(KindOf(full), ErrorKind::kLimit);
  EXPECT_EQ(full.message(),
            "16 connections of user 1000 have just ended and are being cleared away; the limit is 16.");
  EXPECT_TRUE(servers_.CheckRoom(OwnerOfUser(1001)).ok());
  EXPECT_TRUE(Eventually(1));
  EXPECT_TRUE(servers_.CheckRoom(OwnerOfUser(1000)).ok());
}

// Servers do not end on the thread that ticks, because it has other work.
TEST_F(ServersOfConnections, EndOnAThreadOfTheirOwn) {
  std::atomic<int> ended = 0, ended_here = 0;
  const std::thread::id here = std::this_thread::get_id();
  for (int i = 0; i < 8; ++i) {
    // Destroyed with the server's options, so it shows when they are.
    const std::shared_ptr<void> witness(nullptr, [&](void*) {
      ++ended;
      if (std::this_thread::get_id() == here) ++ended_here;
    });
    const rpc::Descriptor connection = Connect(1000, [witness] {});
    EXPECT_TRUE(IsServed(connection));
  }
  EXPECT_TRUE(Eventually(0));
  EXPECT_EQ(ended, 8);
  EXPECT_EQ(ended_here, 0);
}

TEST_F(ServersOfConnections, SayWhenManyHaveEnded) {
  for (int64_t left = ConnectionServers::kManyEnded; left > 0; --left) {
    EXPECT_EQ(many_ended_, 0);
    EXPECT_TRUE(IsServed(Connect(1000)));
    EXPECT_TRUE(Eventually(0));
  }
  EXPECT_TRUE(device::Eventually([this] { return many_ended_ == 1; }));
}

TEST_F(ServersOfConnections, AreManyAtOnceAndEndTogether) {
  std::vector<rpc::Descriptor> open;
  for (uint32_t user = 0; user < 5; ++user)
    for (int i = 0; i < 8; ++i) open.push_back(Connect(user));
  for (const rpc::Descriptor& fd : open) EXPECT_TRUE(IsServed(fd));
  servers_.Shutdown();
  EXPECT_EQ(servers_.size(), 0u);
}

TEST(ReceiveQuota, TurnsAreAsManyAsItSaysAndHandedOnInOrder) {
  const auto quota = std::make_shared<ReceiveQuota>("test", ReceiveLimits{.turns_max = 2});
  std::vector<std::pair<int, ReceiveQuota::Turn>> turns;
  for (int i = 0; i < 4; ++i)
    quota->AwaitTurn([&turns, i](ReceiveQuota::Turn turn) { turns.emplace_back(i, std::move(turn)); });
  ASSERT_EQ(turns.size(), 2u);
  const ReceiveQuota::Turn first = std::exchange(turns[0].second, nullptr);
  EXPECT_EQ(turns.size(), 2u) << "It has another holder.";
  std::exchange(turns[1].second, nullptr).reset();
  ASSERT_EQ(turns.size(), 3u);
  EXPECT_EQ(turns[2].first, 2);
  // A turn that is not used is passed on.
  quota->AwaitTurn([](ReceiveQuota::Turn) {});
  quota->AwaitTurn([&turns](ReceiveQuota::Turn turn) { turns.emplace_back(5, std::move(turn)); });
  std::exchange(turns[2].second, nullptr).reset();
  ASSERT_EQ(turns.size(), 4u);
  std::exchange(turns[3].second, nullptr).reset();
  ASSERT_EQ(turns.size(), 5u);
  EXPECT_EQ(turns[4].first, 5);
}

TEST(SilentCalls, AreCountedByOwnerWhileTheyLast) {
  auto calls = std::make_unique<SilentCalls>();
  std::vector<std::shared_ptr<const void>> held;
  for (int64_t i = 0; i < SilentCalls::kPerOwnerMax; ++i) held.push_back(calls->Count("one"));
  EXPECT_EQ(calls->Count("one"), nullptr);
  EXPECT_NE(calls->Count("another"), nullptr);
  held.pop_back();
  EXPECT_NE(calls->Count("one"), nullptr);
  calls.reset();  // Destroyed before the calls that it counts.
}

}  // namespace
}  // namespace hlod::grpc_server
