// The daemon's endpoints on real sockets: who may connect, the answers, and the reaction to garbage.
#include "server/grpc/server.h"

#include <gmock/gmock.h>
#include <google/protobuf/unknown_field_set.h>
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
#include <random>

#include "common/rpc/grpc/chunk.h"
#include "common/rpc/grpc/status.h"
#include "tests/unit/server/device/testing.h"

namespace hlod::grpc_server {
namespace {

using google::protobuf::UnknownFieldSet;
using testing::HasSubstr;

// A daemon on its own socket, and one generic call at a time.
class GrpcServer : public testing::Test {
 protected:
  GrpcServer() {
    spdlog::set_level(spdlog::level::warn);
    char folder[] = "/tmp/hlod-face-XXXXXX";
    folder_ = mkdtemp(folder);
    devices_ = device::MakeDevices(clock_);
    server_ = Start().value();
    channel_ = grpc::CreateChannel("unix:" + path(), grpc::InsecureChannelCredentials());
  }
  ~GrpcServer() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }
  std::string path() const { return folder_ + "/hlod.sock"; }
  absl::StatusOr<std::unique_ptr<Server>> Start() {
    ServerOptions options;
    options.listen.push_back(rpc::ParseEndpoint("unix:" + path()).value());
    options.version = "hlod test";
    return Server::Start(std::move(options), *devices_);
  }

  struct Outcome {
    std::vector<std::string> answers;
    absl::Status status;
  };
  // Sends the messages, the last one after `answers_before_last` answers, closes, and reads all answers.
  Outcome CallMethod(const std::string& method, const std::vector<std::string>& messages,
                     size_t answers_before_last = 0) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    grpc::CompletionQueue queue;
    const auto next = [&queue] {
      void* tag;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    const std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call =
        stub.PrepareCall(&context, method, &queue);
    call->StartCall(nullptr);
    Outcome outcome;
    grpc::ByteBuffer buffer;
    bool writable = next();
    for (const std::string& message : messages) {
      while (writable && &message == &messages.back() && outcome.answers.size() < answers_before_last) {
        call->Read(&buffer, nullptr);
        writable = next();
        if (writable) outcome.answers.push_back(ToString(buffer));
      }
      if (!writable) break;
      const grpc::Slice slice(message);
      call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
      writable = next();
    }
    if (writable) {
      call->WritesDone(nullptr);
      next();
    }
    for (call->Read(&buffer, nullptr); next(); call->Read(&buffer, nullptr))
      outcome.answers.push_back(ToString(buffer));
    grpc::Status status;
    call->Finish(&status, nullptr);
    next();
    outcome.status = rpc::FromGrpc(status);
    return outcome;
  }

  Clock clock_;
  std::string folder_;
  std::unique_ptr<device::Devices> devices_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

v1::ClientMessage HelloMessage() {
  v1::ClientMessage message;
  message.mutable_hello()->set_version_min(1);
  message.mutable_hello()->set_version_max(1);
  message.mutable_hello()->set_pid(getpid());
  return message;
}

TEST_F(GrpcServer, HealthIsServing) {
  const Outcome outcome = CallMethod("/grpc.health.v1.Health/Check", {""});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  ASSERT_EQ(outcome.answers.size(), 1u);
  EXPECT_EQ(outcome.answers[0], std::string("\x08\x01"));  // grpc.health.v1: status = SERVING.
}

TEST_F(GrpcServer, ReflectionListsServicesAndGivesTheirFiles) {
  UnknownFieldSet list, symbol;
  list.AddLengthDelimited(7, "");
  symbol.AddLengthDelimited(4, "hlod.v1.Session");
  std::string list_bytes, symbol_bytes;
  list.SerializeToString(&list_bytes);
  symbol.SerializeToString(&symbol_bytes);
  const Outcome outcome = CallMethod("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                                     {list_bytes, symbol_bytes});
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  ASSERT_EQ(outcome.answers.size(), 2u);
  EXPECT_THAT(outcome.answers[0], HasSubstr("hlod.v1.Admin"));
  EXPECT_THAT(outcome.answers[1], HasSubstr("proto/hlod/v1/session.proto"));
  EXPECT_THAT(outcome.answers[1], HasSubstr("proto/xla/xla_data.proto")) << "With what it depends on.";
}

TEST_F(GrpcServer, AnUnknownMethodIsUnimplemented) {
  EXPECT_EQ(CallMethod("/hlod.v1.Session/Nothing", {""}).status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(CallMethod("/hlod.v1.Admin/Nothing", {""}).status.code(), absl::StatusCode::kUnimplemented);
}

TEST_F(GrpcServer, AHelloIsWelcomed) {
  const Outcome outcome = CallMethod("/hlod.v1.Session/Connect", {HelloMessage().SerializeAsString()});
  ASSERT_EQ(outcome.answers.size(), 1u);
  v1::ServerMessage message;
  ASSERT_TRUE(message.ParseFromString(outcome.answers[0]));
  EXPECT_EQ(message.welcome().secret().size(), rpc::kSecretBytes);
  EXPECT_EQ(message.welcome().devices_size(), 1);
}

TEST_F(GrpcServer, GarbageEndsTheStreamNotTheDaemon) {
  std::mt19937 random(3);
  for (int i = 0; i < 30; ++i) {
    std::string garbage(1 + random() % 300, '\0');
    for (char& c : garbage) c = static_cast<char>(random());
    for (const char* method :
         {"/hlod.v1.Session/Connect", "/hlod.v1.Bulk/Upload", "/hlod.v1.Bulk/Download",
          "/hlod.v1.Admin/GetStats", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"}) {
      CallMethod(method, {garbage});
    }
    CallMethod("/hlod.v1.Session/Connect", {HelloMessage().SerializeAsString(), garbage});
  }
  EXPECT_TRUE(CallMethod("/grpc.health.v1.Health/Check", {""}).status.ok());
}

TEST_F(GrpcServer, AMessageOfMillionsOfPartsIsNotParsed) {
  std::string parts;  // Empty commands (field 6).
  for (int i = 0; i < 3'000'000; ++i) parts += std::string_view("\x32\0", 2);
  // Once the daemon has read a large message, there is room for such a one.
  v1::ClientMessage large;
  large.mutable_command()->set_id(1);
  large.mutable_command()->mutable_compile()->set_executable(1);
  large.mutable_command()->mutable_compile()->set_module(std::string(200'000, 'x'));
  const Outcome outcome = CallMethod("/hlod.v1.Session/Connect",
                                     {HelloMessage().SerializeAsString(), large.SerializeAsString(), parts},
                                     /*answers_before_last=*/2);
  ASSERT_EQ(outcome.answers.size(), 2u) << outcome.status;
  const absl::Status& status = outcome.status;
  EXPECT_EQ(KindOf(status), ErrorKind::kLimit) << status;
  EXPECT_NE(status.message().find("too many parts"), status.message().npos) << status;
}

TEST_F(GrpcServer, BytesThatAreNoHttpAreDropped) {
  for (int i = 0; i < 20; ++i) {
    const rpc::Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    const std::string bytes(5000, static_cast<char>('a' + i));
    (void)!send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  EXPECT_TRUE(CallMethod("/grpc.health.v1.Health/Check", {""}).status.ok());
}

TEST_F(GrpcServer, ForgedSecretsOpenNoBulkStream) {
  v1::TransferId transfer;
  transfer.set_session(1);
  transfer.set_secret(std::string(32, 'x'));
  transfer.set_command(1);
  v1::Chunk chunk;
  *chunk.mutable_transfer() = transfer;
  chunk.set_data("abcd");
  EXPECT_EQ(KindOf(CallMethod("/hlod.v1.Bulk/Upload", {chunk.SerializeAsString()}).status), ErrorKind::kAuth);
  EXPECT_EQ(KindOf(CallMethod("/hlod.v1.Bulk/Download", {transfer.SerializeAsString()}).status),
            ErrorKind::kAuth);
  chunk.clear_transfer();
  EXPECT_EQ(KindOf(CallMethod("/hlod.v1.Bulk/Upload", {chunk.SerializeAsString()}).status),
            ErrorKind::kViolation);
}

TEST_F(GrpcServer, TheArenaIsForWhoHasTheSecret) {
  const Outcome outcome = CallMethod("/hlod.v1.Session/Connect", {HelloMessage().SerializeAsString()});
  v1::ServerMessage message;
  ASSERT_TRUE(message.ParseFromString(outcome.answers.at(0)));
  const v1::Arena& arena = message.welcome().arena();
  const auto ask = [&](const std::string& secret) {
    const rpc::Descriptor fd = rpc::ConnectAbstract(arena.socket()).value();
    (void)!send(fd.get(), secret.data(), secret.size(), MSG_NOSIGNAL);
    return rpc::ReceiveDescriptor(fd.get());
  };
  EXPECT_FALSE(ask(std::string(32, 'x')).ok());
  const rpc::Descriptor stalling = rpc::ConnectAbstract(arena.socket()).value();
  (void)!send(stalling.get(), "short", 5, MSG_NOSIGNAL);
  absl::StatusOr<rpc::Descriptor> memory = ask(message.welcome().secret());
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_TRUE(rpc::SharedMemory::Map(*std::move(memory), static_cast<int64_t>(arena.bytes())).ok());
}

TEST_F(GrpcServer, AnArenaIsHandedOutToASlowClient) {
  const Outcome outcome = CallMethod("/hlod.v1.Session/Connect", {HelloMessage().SerializeAsString()});
  v1::ServerMessage message;
  ASSERT_TRUE(message.ParseFromString(outcome.answers.at(0)));
  const std::string& secret = message.welcome().secret();
  const rpc::Descriptor slow = rpc::ConnectAbstract(message.welcome().arena().socket()).value();
  (void)!send(slow.get(), secret.data(), 16, MSG_NOSIGNAL);
  // Behaves like a process that gets no core for a while; the connection stays open.
  pollfd answer{slow.get(), POLLIN, 0};
  EXPECT_EQ(poll(&answer, 1, 700), 0);
  (void)!send(slow.get(), secret.data() + 16, secret.size() - 16, MSG_NOSIGNAL);
  EXPECT_TRUE(rpc::ReceiveDescriptor(slow.get()).ok());
}

TEST_F(GrpcServer, ASecondDaemonDoesNotStealTheSocket) {
  EXPECT_EQ(Start().status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(CallMethod("/grpc.health.v1.Health/Check", {""}).status.ok());
}

TEST_F(GrpcServer, ASocketLeftBehindIsReplaced) {
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(path())) << "It goes with its daemon.";
  {
    const rpc::Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  const absl::StatusOr<std::unique_ptr<Server>> again = Start();
  EXPECT_TRUE(again.ok()) << again.status();
}

TEST_F(GrpcServer, AFileThatIsNoSocketIsNotTouched) {
  server_.reset();
  std::fclose(std::fopen(path().c_str(), "w"));
  EXPECT_EQ(Start().status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(std::filesystem::is_regular_file(path()));
}

TEST_F(GrpcServer, PlainTcpStaysOnTheLoopback) {
  ServerOptions options;
  options.listen.push_back(rpc::ParseEndpoint("0.0.0.0:0").value());
  const absl::Status refused = Server::Start(options, *devices_).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("0.0.0.0:0"));
  options.listen = {rpc::ParseEndpoint("127.0.0.1:0").value()};
  const absl::StatusOr<std::unique_ptr<Server>> local = Server::Start(options, *devices_);
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_GT((*local)->endpoints().at(0).port, 0);
  const absl::Status taken = [&] {
    ServerOptions again;
    again.listen = (*local)->endpoints();
    return Server::Start(again, *devices_).status();
  }();
  EXPECT_EQ(taken.code(), absl::StatusCode::kUnavailable) << "One port, one daemon.";
}

TEST_F(GrpcServer, AdministrationOverTcpIsRefused) {
  ServerOptions options;
  options.listen.push_back(rpc::ParseEndpoint("127.0.0.1:0").value());
  const std::unique_ptr<Server> tcp = Server::Start(options, *devices_).value();
  EXPECT_TRUE(CallMethod("/hlod.v1.Admin/GetStats", {""}).status.ok());
  channel_ = grpc::CreateChannel(rpc::ToString(tcp->endpoints().at(0)), grpc::InsecureChannelCredentials());
  EXPECT_EQ(KindOf(CallMethod("/hlod.v1.Admin/GetStats", {""}).status), ErrorKind::kAuth);
}

}  // namespace
}  // namespace hlod::grpc_server
