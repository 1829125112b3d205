// A local user has a server while the user is connected and a while longer, and there are only so many.
#include "server/grpc/user_servers.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <new>
#include <utility>

#include "server/grpc/peer_names.h"
#include "server/session/processes.h"
#include "tests/unit/server/device/testing.h"

namespace hlod::grpc_server {
namespace {

class LocalUsers : public testing::Test {
 protected:
  LocalUsers() { spdlog::set_level(spdlog::level::err); }
  ~LocalUsers() override { servers_->Shutdown(); }
  void Start(const UserServers::Options& options) {
    servers_ = std::make_unique<UserServers>(options, connections_, [this](uint32_t user) {
      if (std::exchange(out_of_memory_, false)) throw std::bad_alloc();
      return std::make_unique<GrpcServer>(registry_, health_,
                                          GrpcServer::Options{.name = OwnerOfUser(user), .user = user});
    });
  }
  // The user's end of a connection that was just accepted.
  rpc::Descriptor Connect(uint32_t user) {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    EXPECT_TRUE(connections_.Add(ends[0], OwnerOfUser(user), /*tcp=*/false));
    try {
      servers_->HandleConnection(ConnectedSocket(ends[0]), user);
    } catch (const std::bad_alloc&) {
    }
    return rpc::Descriptor(ends[1]);
  }
  // Whether gRPC says something, rather than the connection ends.
  static bool IsServed(const rpc::Descriptor& fd) {
    pollfd polled{fd.get(), POLLIN, 0};
    char byte;
    return poll(&polled, 1, 20'000) == 1 && recv(fd.get(), &byte, 1, 0) == 1;
  }
  // Ends the user's connections.
  void Disconnect(uint32_t user, rpc::Descriptor& fd) {
    fd = rpc::Descriptor();
    EXPECT_TRUE(device::Eventually([&] {
      connections_.Tick();
      return connections_.CountOf(OwnerOfUser(user)) == 0;
    }));
  }

  const Clock clock_;
  const std::unique_ptr<device::Devices> devices_ = device::MakeDevices(clock_);
  session::WatchedProcesses processes_{[](int64_t) {}};
  session::Registry registry_{*devices_, processes_, {}};
  Health health_{registry_};
  Connections connections_{{.per_owner_max = 8}};
  std::unique_ptr<UserServers> servers_;
  bool out_of_memory_ = false;  // For the next server.
};

TEST_F(LocalUsers, HaveAServerWhileTheyAreConnected) {
  Start({.idle = absl::ZeroDuration()});
  for (int round = 0; round < 2; ++round) {
    rpc::Descriptor one = Connect(1000), two = Connect(1000);
    EXPECT_TRUE(IsServed(one));
    EXPECT_TRUE(IsServed(two));
    servers_->Tick();
    EXPECT_EQ(servers_->size(), 1u);
    one = rpc::Descriptor();
    Disconnect(1000, two);
    servers_->Tick();
    EXPECT_EQ(servers_->size(), 0u);
  }
}

TEST_F(LocalUsers, KeepTheirServerForAWhile) {
  Start({.idle = absl::Hours(1)});
  rpc::Descriptor fd = Connect(1000);
  Disconnect(1000, fd);
  servers_->Tick();
  EXPECT_EQ(servers_->size(), 1u);
}

TEST_F(LocalUsers, BeyondTheMostAreRefusedUntilOneIsGone) {
  Start({.most = 3, .idle = absl::Hours(1)});
  rpc::Descriptor first = Connect(1), second = Connect(2), third = Connect(3);
  EXPECT_FALSE(IsServed(Connect(4)));
  EXPECT_TRUE(IsServed(Connect(1))) << "Who has a server may connect again.";
  EXPECT_TRUE(IsServed(second));
  Disconnect(2, second);
  EXPECT_TRUE(IsServed(Connect(4))) << "in the place of the second, who is not waited for";
  EXPECT_EQ(servers_->size(), 3u);
  EXPECT_TRUE(IsServed(third));
}

TEST_F(LocalUsers, WhoseServerCouldNotBeMadeAreDisconnectedAndDoNotCount) {
  Start({.most = 1, .idle = absl::Hours(1)});
  out_of_memory_ = true;
  rpc::Descriptor refused = Connect(1);
  EXPECT_FALSE(IsServed(refused));
  EXPECT_EQ(servers_->size(), 0u);
  Disconnect(1, refused);
  EXPECT_TRUE(IsServed(Connect(2)));
  EXPECT_EQ(servers_->size(), 1u);
}

}  // namespace
}  // namespace hlod::grpc_server
