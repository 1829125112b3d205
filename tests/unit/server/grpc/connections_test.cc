// Connections are counted per owner, and silent ones are closed.
#include "server/grpc/connections.h"

#include <fcntl.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include "common/rpc/grpc/status.h"
#include "proto/hlod/v1/session.grpc.pb.h"
#include "server/grpc/peer_names.h"
#include "server/grpc/server.h"
#include "tests/support/loopback.h"
#include "tests/unit/server/device/testing.h"

namespace hlod::grpc_server {
namespace {

// Returns a channel with a connection of its own.
std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// A connection with a session.
class OpenSession {
 public:
  explicit OpenSession(const std::string& address, const std::string& token = "")
      : stub_(v1::Session::NewStub(ChannelTo(address))) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(1));
    if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
    stream_ = stub_->Connect(&context_);
    v1::ClientMessage message;
    message.mutable_hello()->set_version_min(1);
    message.mutable_hello()->set_version_max(1);
    v1::ServerMessage answer;
    open_ = stream_->Write(message) && stream_->Read(&answer);
    EXPECT_TRUE(open_) << stream_->Finish().error_message();
  }
  ~OpenSession() { context_.TryCancel(); }
  // Returns true when a ping is answered.
  bool Pings() const {
    if (!open_) return false;
    v1::ClientMessage message;
    message.mutable_command()->set_id(++last_);
    message.mutable_command()->mutable_ping();
    v1::ServerMessage answer;
    return stream_->Write(message) && stream_->Read(&answer);
  }

 private:
  const std::unique_ptr<v1::Session::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::ClientMessage, v1::ServerMessage>> stream_;
  bool open_ = false;
  mutable uint64_t last_ = 0;
};

// A connection that watches the health service and does not authenticate.
class Watcher {
 public:
  explicit Watcher(const std::string& address) : stub_(ChannelTo(address)) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(1));
    const auto call = stub_.PrepareUnaryCall(&context_, "/grpc.health.v1.Health/Check",
                                             ToByteBuffer(std::string()), &queue_);
    call->StartCall();
    grpc::Status status;
    call->Finish(&response_, &status, nullptr);
    void* tag;
    bool ok;
    queue_.Next(&tag, &ok);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
  ~Watcher() { queue_.Shutdown(); }

 private:
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  grpc::ByteBuffer response_;
};

// A daemon on a unix socket, and sockets connected to it.
class ServerConnections : public ::testing::Test {
 protected:
  ~ServerConnections() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }
  // With a `token`, even an empty one, the daemon also listens on TCP.
  void Start(absl::Duration greeting, const Limits& limits = {},
             const std::optional<std::string>& token = std::nullopt) {
    spdlog::set_level(spdlog::level::err);
    char folder[] = "/tmp/hlod-connections-XXXXXX";
    folder_ = mkdtemp(folder);
    devices_ = device::MakeDevices(clock_, limits);
    ServerOptions options;
    options.listen.push_back(rpc::ParseEndpoint("unix:" + path()).value());
    options.greeting = greeting;
    if (token.has_value()) {
      options.listen.push_back(rpc::ParseEndpoint("127.0.0.1:0").value());
      options.token = *token;
    }
    server_ = Server::Start(std::move(options), *devices_).value();
  }
  std::string path() const { return folder_ + "/hlod.sock"; }
  std::string address() const { return "unix:" + path(); }
  std::string tcp() const { return absl::StrCat("127.0.0.1:", server_->endpoints()[1].port); }
  rpc::Descriptor Connect() const {
    rpc::Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }
  // Returns true when the daemon ends the connection within `timeout`.
  static bool Ends(const rpc::Descriptor& fd, absl::Duration timeout) {
    const absl::Time deadline = absl::Now() + timeout;
    char bytes[256];
    for (;;) {
      pollfd polled{fd.get(), POLLIN, 0};
      const auto ms = static_cast<int>(absl::ToInt64Milliseconds(deadline - absl::Now()));
      if (ms <= 0 || poll(&polled, 1, ms) <= 0) return false;
      // gRPC's first frames may arrive before the end.
      if (recv(fd.get(), bytes, sizeof(bytes), 0) <= 0) return true;
    }
  }

  Clock clock_;
  std::string folder_;
  std::unique_ptr<device::Devices> devices_;
  std::unique_ptr<Server> server_;
};

// A new connection replaces the oldest one that has not been used yet.
TEST_F(ServerConnections, OneUserHasAFewAndGetsNewOnesForOldOnes) {
  Start(absl::Minutes(10), Limits{.connections_per_user_max = 4});
  std::vector<rpc::Descriptor> open;
  for (int i = 0; i < 5; ++i) open.push_back(Connect());
  EXPECT_TRUE(Ends(open[0], absl::Seconds(20)));
  for (int i = 1; i < 5; ++i) EXPECT_FALSE(Ends(open[i], absl::Milliseconds(1))) << i;
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
  const OpenSession one(address()), two(address());
  EXPECT_TRUE(one.Pings() && two.Pings());
  const auto channel = grpc::CreateChannel(address(), grpc::InsecureChannelCredentials());
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

// Connected pairs of sockets.
struct Pairs {
  explicit Pairs(int count) {
    for (int i = 0; i < count; ++i) {
      int ends[2];
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
      here.emplace_back(ends[0]);
      there.emplace_back(ends[1]);
    }
  }
  std::vector<rpc::Descriptor> here, there;
};

TEST(Connections, HaveATotalOfWhichSomeAreForAdministrators) {
  spdlog::set_level(spdlog::level::err);
  Connections connections({.per_owner_max = 8, .most = 3, .for_administrators = 1, .who = "it"});
  const Pairs pairs(4);
  const auto add = [&](int pair, const char* owner, bool administrator) {
    return connections.Add(pairs.here[pair].get(), {.owner = owner, .administrator = administrator});
  };
  const absl::StatusOr<uint64_t> first = add(0, "one", false);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(add(1, "two", false).ok());
  const absl::Status refused = add(2, "three", false).status();
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit);
  EXPECT_EQ(refused.message(), "2 connections are open, as many as it takes.");
  EXPECT_TRUE(add(2, "root", true).ok());
  EXPECT_FALSE(add(3, "root", true).ok());
  EXPECT_TRUE(connections.IsOpen(*first));
  connections.Close(*first);
  connections.Tick();
  EXPECT_FALSE(connections.IsOpen(*first));
  EXPECT_TRUE(add(3, "root", true).ok());
}

TEST(Connections, OfUsersAreKeptAndTheOldestNewcomerOfTheirOwnerGoes) {
  spdlog::set_level(spdlog::level::err);
  Connections connections({.per_owner_max = 3});
  const Pairs pairs(7);
  const auto add = [&](int pair, const char* owner) {
    return connections.Add(pairs.here[pair].get(), {.owner = owner});
  };
  const uint64_t other = add(0, "another").value();
  const uint64_t used = add(1, "one").value(), older = add(2, "one").value(), newer = add(3, "one").value();
  connections.MarkUsed(used);
  const uint64_t last = add(4, "one").value();
  EXPECT_FALSE(connections.IsOpen(older));
  for (const uint64_t id : {other, used, newer, last}) EXPECT_TRUE(connections.IsOpen(id)) << id;
  char byte;
  EXPECT_EQ(recv(pairs.there[2].get(), &byte, 1, 0), 0) << "its end";
  connections.MarkUsed(newer);
  connections.MarkUsed(last);
  const absl::Status refused = add(5, "one").status();
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit);
  EXPECT_EQ(refused.message(), "3 connections of one are open: the limit connections_per_user_max is 3.");
}

TEST(Connections, OfStrangersHavePlacesOfTheirOwn) {
  spdlog::set_level(spdlog::level::err);
  Connections connections({.per_owner_max = 2, .strangers_max = 3});
  const Pairs pairs(12);
  int next = 0;
  const auto stranger = [&](const char* owner) {
    return connections.Add(pairs.here[next++].get(), {.owner = owner, .stranger = true}).value();
  };
  const uint64_t known = stranger("one");
  EXPECT_TRUE(connections.Greet(known).ok());
  EXPECT_EQ(connections.CountOf("one"), 1);
  // There are three places. The owner with most of them loses its oldest connection.
  const uint64_t calm = stranger("another"), first = stranger("one"), second = stranger("one");
  const uint64_t third = stranger("one");
  EXPECT_FALSE(connections.IsOpen(first));
  for (const uint64_t id : {known, calm, second, third}) EXPECT_TRUE(connections.IsOpen(id)) << id;
  EXPECT_EQ(connections.CountOf("one"), 1) << "Strangers do not count.";
  // Greeted connections are subject to their owner's limit: unused ones are replaced, and when all are used,
  // the next one is refused.
  EXPECT_TRUE(connections.Greet(second).ok());
  EXPECT_TRUE(connections.Greet(third).ok());
  EXPECT_FALSE(connections.IsOpen(known));
  connections.MarkUsed(second);
  connections.MarkUsed(third);
  const uint64_t fourth = stranger("one");
  EXPECT_EQ(KindOf(connections.Greet(fourth)), ErrorKind::kLimit);
  EXPECT_TRUE(connections.IsOpen(fourth));
  EXPECT_TRUE(connections.Greet(calm).ok());
}

// Beyond the limit for all connections together, strangers are replaced first.
TEST(Connections, OfStrangersGoWhenThereAreTooManyOfAll) {
  spdlog::set_level(spdlog::level::err);
  Connections connections({.per_owner_max = 8, .most = 2});
  const Pairs pairs(4);
  const uint64_t stranger = connections.Add(pairs.here[0].get(), {.owner = "one", .stranger = true}).value();
  EXPECT_TRUE(connections.Add(pairs.here[1].get(), {.owner = "two"}).ok());
  EXPECT_TRUE(connections.Add(pairs.here[2].get(), {.owner = "three"}).ok());
  EXPECT_FALSE(connections.IsOpen(stranger));
  EXPECT_FALSE(connections.Add(pairs.here[3].get(), {.owner = "four"}).ok());
}

// Strangers connect over TCP from this host without the token, as many as may, each asking for health. A
// client still connects.
TEST_F(ServerConnections, OfStrangersLockNoClientOut) {
  const Limits limits{.connections_per_user_max = 4};
  Start(absl::Minutes(10), limits, "open sesame");
  const OpenSession before(tcp(), "open sesame");
  EXPECT_TRUE(before.Pings());
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int64_t i = 0; i < Connections::kStrangersMax + 2 * limits.connections_per_user_max; ++i)
    watchers.push_back(std::make_unique<Watcher>(tcp()));
  const OpenSession after(tcp(), "open sesame");
  EXPECT_TRUE(after.Pings());
  EXPECT_TRUE(before.Pings());
}

// Connections without a session; without a token, all connections count for one user.
TEST_F(ServerConnections, WithoutASessionLockNoClientOut) {
  Start(absl::Minutes(10), Limits{.connections_per_user_max = 4}, "");
  const OpenSession before(tcp());
  EXPECT_TRUE(before.Pings());
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int i = 0; i < 8; ++i) watchers.push_back(std::make_unique<Watcher>(tcp()));
  const OpenSession after(tcp());
  EXPECT_TRUE(after.Pings());
  EXPECT_TRUE(before.Pings());
}

TEST_F(ServerConnections, ThatResetCallsWithoutEndAreClosedAndOthersOfTheirUserAreNot) {
  Start(absl::Minutes(10));
  const OpenSession calm(address());
  // A channel over a descriptor does not reconnect: when its connection is closed, calls fail.
  rpc::Descriptor fd = Connect();
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  grpc::GenericStub stub(grpc::CreateInsecureChannelFromFd("resetting", fd.Release()));
  grpc::CompletionQueue queue;
  const auto next = [&queue] {
    void* tag;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  bool closed = false;
  for (int round = 0; round < 10'000 && !closed; ++round) {
    constexpr int kAtOnce = 64;
    grpc::ClientContext contexts[kAtOnce];
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> calls[kAtOnce];
    for (int i = 0; i < kAtOnce; ++i) {
      calls[i] = stub.PrepareCall(&contexts[i], "/hlod.v1.Session/Connect", &queue);
      calls[i]->StartCall(nullptr);
    }
    for (int i = 0; i < kAtOnce; ++i) next();
    for (grpc::ClientContext& context : contexts) context.TryCancel();
    for (const auto& call : calls) {
      grpc::Status status;
      call->Finish(&status, nullptr);
      next();
      closed = closed || status.error_code() == grpc::StatusCode::UNAVAILABLE;
    }
  }
  EXPECT_TRUE(closed);
  EXPECT_TRUE(calm.Pings());
  queue.Shutdown();
}

TEST(ResetBudget, IsBoundedAtOnceAndThenBySecond) {
  ResetBudget budget;
  const absl::Time start = absl::UnixEpoch();
  for (int i = 0; i < ResetBudget::kAtOnce; ++i) EXPECT_TRUE(budget.Spend(start)) << i;
  EXPECT_FALSE(budget.Spend(start));
  for (int i = 0; i < ResetBudget::kAgain; ++i) EXPECT_TRUE(budget.Spend(start)) << i;
  EXPECT_FALSE(budget.Spend(start));
  // A client may do this without end.
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

// Returns the number of this process's threads that serve a user's connection.
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

TEST(PeerNames, ASocketSaysItsUserOrItsHost) {
  testing::LoopbackListener listener;
  const rpc::Descriptor client = listener.Connect(), accepted = listener.Accept();
  const std::string user = absl::StrCat("user ", geteuid(), " over TCP");
  EXPECT_EQ(OwnerOfSocket(accepted.get()), user);
  EXPECT_EQ(OwnerOfSocket(client.get()), user);
  shutdown(client.get(), SHUT_WR);
  EXPECT_EQ(OwnerOfSocket(accepted.get()), "host 127.0.0.1") << "one that closes";
  EXPECT_EQ(OwnerOfSocket(-1), "host unknown");
}

}  // namespace
}  // namespace hlod::grpc_server
