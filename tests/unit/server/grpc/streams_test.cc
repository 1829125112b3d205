// Streams that stall, send garbage or end in the middle: the memory that the daemon holds for them, and how
// long.
#include <gmock/gmock.h>
#include <google/protobuf/unknown_field_set.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>

#include "common/hlo/proto/codec.h"
#include "common/rpc/grpc/chunk.h"
#include "common/rpc/grpc/status.h"
#include "common/rpc/wire.h"
#include "server/grpc/server.h"
#include "tests/unit/server/device/testing.h"

namespace hlod::grpc_server {
namespace {

using testing::HasSubstr;

// One call, with one operation at a time. It is cancelled after `timeout`.
class Stream {
 public:
  Stream(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
         const std::string& token = "", absl::Duration timeout = absl::Seconds(20))
      : stub_(channel) {
    if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
    context_.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
    call_ = stub_.PrepareCall(&context_, method, &queue_);
    call_->StartCall(nullptr);
    Next();
  }
  ~Stream() {
    context_.TryCancel();
    queue_.Shutdown();
    void* tag;
    bool ok;
    while (queue_.Next(&tag, &ok)) {
    }
  }
  bool Write(const google::protobuf::MessageLite& message) { return Write(ToByteBuffer(message)); }
  bool Write(const grpc::ByteBuffer& bytes) {
    call_->Write(bytes, nullptr);
    return Next();
  }
  // Starts a write without waiting for it.
  void StartWrite(const grpc::ByteBuffer& bytes) { call_->Write(bytes, nullptr); }
  void HalfClose() {
    call_->WritesDone(nullptr);
    Next();
  }
  std::optional<std::string> Read() {
    grpc::ByteBuffer bytes;
    call_->Read(&bytes, nullptr);
    if (!Next()) return std::nullopt;
    return ToString(bytes);
  }
  absl::Status Finish() {
    grpc::Status status;
    call_->Finish(&status, nullptr);
    Next();
    return rpc::FromGrpc(status);
  }

 private:
  bool Next() {
    void* tag;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

class Streams : public testing::Test {
 protected:
  Streams() {
    spdlog::set_level(spdlog::level::warn);
    char folder[] = "/tmp/hlod-streams-XXXXXX";
    folder_ = mkdtemp(folder);
    Start(absl::Seconds(10));
  }
  ~Streams() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }
  void Start(absl::Duration greeting, const Limits& limits = {}) {
    server_.reset();
    devices_ = device::MakeDevices(clock_, limits);
    ServerOptions options;
    options.listen.push_back(rpc::ParseEndpoint("unix:" + folder_ + "/hlod.sock").value());
    options.version = "hlod test";
    options.greeting = greeting;
    server_ = Server::Start(std::move(options), *devices_).value();
    channel_ = grpc::CreateChannel("unix:" + folder_ + "/hlod.sock", grpc::InsecureChannelCredentials());
  }
  std::unique_ptr<Stream> Open(const std::string& method) {
    return std::make_unique<Stream>(channel_, method);
  }
  // Opens a session and reads its greeting.
  std::unique_ptr<Stream> Connect() {
    std::unique_ptr<Stream> session = Open("/hlod.v1.Session/Connect");
    v1::ClientMessage message;
    message.mutable_hello()->set_version_min(1);
    message.mutable_hello()->set_version_max(1);
    session->Write(message);
    v1::ServerMessage answer;
    answer.ParseFromString(session->Read().value_or(""));
    welcome_ = answer.welcome();
    return session;
  }
  v1::TransferId TransferOf(uint64_t command) const {
    v1::TransferId id;
    id.set_session(welcome_.session());
    id.set_secret(welcome_.secret());
    id.set_command(command);
    return id;
  }
  static v1::ClientMessage UploadOf(uint64_t id, int64_t bytes) {
    v1::ClientMessage message;
    message.mutable_command()->set_id(id);
    v1::Upload& upload = *message.mutable_command()->mutable_upload();
    upload.set_handle(id);
    *upload.mutable_shape() = hlo::ToProto(hlo::Shape::Array(hlo::kU8, {bytes}));
    upload.set_bytes(static_cast<uint64_t>(bytes));
    upload.set_cause(static_cast<int>(Cause::kUpload));
    upload.set_stream(true);
    return message;
  }
  int64_t used_bytes() { return devices_->device(0).memory.figures().used_bytes; }
  // Returns true when the device's memory becomes used, or free, within two seconds.
  bool Soon(bool used) {
    for (int i = 0; i < 200 && (used_bytes() > 0) != used; ++i)
      absl::SleepFor(absl::Milliseconds(10));  // tidy: the daemon tells nobody that memory came or went.
    return (used_bytes() > 0) == used;
  }
  bool SoonFree() { return Soon(/*used=*/false); }

  Clock clock_;
  std::string folder_;
  std::unique_ptr<device::Devices> devices_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  v1::Welcome welcome_;
};

constexpr int64_t kBytes = 8 << 20;

TEST_F(Streams, AStalledUploadKeepsNoMemoryOnceItsSessionEnded) {
  const std::unique_ptr<Stream> session = Connect();
  session->Write(UploadOf(1, kBytes));
  const std::unique_ptr<Stream> bulk = Open("/hlod.v1.Bulk/Upload");
  const std::string data(1000, 'x');
  const v1::TransferId id = TransferOf(1);
  bulk->Write(rpc::EncodeChunk(&id, {reinterpret_cast<const std::byte*>(data.data()), data.size()}));
  ASSERT_TRUE(Soon(/*used=*/true));
  absl::SleepFor(absl::Milliseconds(50));  // tidy: a chunk that is in its place is announced to nobody.
  EXPECT_EQ(used_bytes(), kBytes);
  v1::ClientMessage goodbye;
  goodbye.mutable_command()->set_id(2);
  goodbye.mutable_command()->mutable_goodbye();
  session->Write(goodbye);
  EXPECT_TRUE(SoonFree());
  EXPECT_FALSE(bulk->Read().has_value());
  EXPECT_EQ(bulk->Finish().code(), absl::StatusCode::kCancelled);
}

TEST_F(Streams, AnUnreadDownloadKeepsNoMemoryOnceItsSessionEnded) {
  const std::unique_ptr<Stream> session = Connect();
  session->Write(UploadOf(1, kBytes));
  {
    const std::unique_ptr<Stream> bulk = Open("/hlod.v1.Bulk/Upload");
    const std::string data(1 << 20, 'x');
    const v1::TransferId id = TransferOf(1);
    for (int64_t sent = 0; sent < kBytes; sent += 1 << 20) {
      bulk->Write(rpc::EncodeChunk(sent == 0 ? &id : nullptr,
                                   {reinterpret_cast<const std::byte*>(data.data()), data.size()}));
    }
    EXPECT_TRUE(bulk->Read().has_value());
  }
  v1::ClientMessage message;
  message.mutable_command()->set_id(2);
  message.mutable_command()->mutable_download()->set_handle(1);
  message.mutable_command()->mutable_download()->set_cause(static_cast<int>(Cause::kDownload));
  message.mutable_command()->mutable_download()->set_stream(true);
  session->Write(message);
  v1::ServerMessage answer;
  while (answer.replies_size() == 0) ASSERT_TRUE(answer.ParseFromString(session->Read().value()));
  const std::unique_ptr<Stream> bulk = Open("/hlod.v1.Bulk/Download");
  bulk->Write(TransferOf(2));
  ASSERT_TRUE(bulk->Read().has_value());  // Reads one answer and stops.
  message.mutable_command()->set_id(3);
  message.mutable_command()->mutable_goodbye();
  session->Write(message);
  EXPECT_TRUE(SoonFree());
}

TEST_F(Streams, ADaemonThatEndsAmidBulkStreamsEndsInOrder) {
  for (int round = 0; round < 5; ++round) {
    const std::unique_ptr<Stream> session = Connect();
    session->Write(UploadOf(1, kBytes));
    const std::unique_ptr<Stream> bulk = Open("/hlod.v1.Bulk/Upload");
    const std::string data(1 << 20, 'x');
    const v1::TransferId id = TransferOf(1);
    for (int i = 0; i < 4; ++i) {
      bulk->Write(rpc::EncodeChunk(i == 0 ? &id : nullptr,
                                   {reinterpret_cast<const std::byte*>(data.data()), data.size()}));
    }
    Start(absl::Seconds(10));
    EXPECT_FALSE(bulk->Read().has_value());
    EXPECT_EQ(used_bytes(), 0);
  }
}

// Copies of the daemon's sessions wait behind one that does not end; they would access freed memory.
TEST_F(Streams, ADaemonThatEndsDropsTheCopiesThatWait) {
  const std::unique_ptr<Stream> session = Connect();
  const auto busy = std::make_shared<absl::Notification>();
  devices_->transfers().Submit(99, 0, [busy] { busy->WaitForNotification(); });
  session->Write(UploadOf(1, kBytes));
  const std::unique_ptr<Stream> bulk = Open("/hlod.v1.Bulk/Upload");
  const std::string data(1 << 20, 'x');
  const v1::TransferId id = TransferOf(1);
  bulk->Write(rpc::EncodeChunk(&id, {reinterpret_cast<const std::byte*>(data.data()), data.size()}));
  ASSERT_TRUE(Soon(/*used=*/true));
  for (int i = 0; i < 1000 && devices_->queued() == 1; ++i)
    absl::SleepFor(absl::Milliseconds(10));  // tidy: a chunk that waits is announced to nobody.
  EXPECT_GT(devices_->queued(), 1);
  EXPECT_FALSE(server_->Drain(absl::Milliseconds(1), [] { return false; }));
  server_.reset();
  EXPECT_EQ(devices_->queued(), 1);
  EXPECT_EQ(used_bytes(), 0);
  busy->Notify();
}

TEST_F(Streams, AChunkOverTheLimitIsRefusedBeforeItIsKept) {
  const std::unique_ptr<Stream> session = Connect();
  // The first chunk does not declare an upload.
  const std::unique_ptr<Stream> bulk = Open("/hlod.v1.Bulk/Upload");
  const std::string data(3 << 20, 'x');
  const v1::TransferId id = TransferOf(1);
  bulk->Write(rpc::EncodeChunk(&id, {reinterpret_cast<const std::byte*>(data.data()), data.size()}));
  EXPECT_FALSE(bulk->Read().has_value());
  const absl::Status status = bulk->Finish();
  EXPECT_EQ(KindOf(status), ErrorKind::kLimit) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("chunk_bytes_max"));
}

// The error has no kind, as those of broken connections: a network may have been cut before the message, and
// the client tries again.
TEST_F(Streams, ACallThatSaysNothingIsEnded) {
  Start(absl::Milliseconds(200));
  for (const char* method : {"/hlod.v1.Session/Connect", "/hlod.v1.Bulk/Upload", "/hlod.v1.Bulk/Download",
                             "/hlod.v1.Admin/GetStats"}) {
    const std::unique_ptr<Stream> silent = Open(method);
    EXPECT_FALSE(silent->Read().has_value());
    const absl::Status status = silent->Finish();
    EXPECT_TRUE(absl::IsUnavailable(status)) << method << status;
    EXPECT_EQ(KindOf(status), ErrorKind::kNone) << method << status;
  }
  const std::unique_ptr<Stream> greeted = Connect();
  // Longer than the time limit of the greeting.
  absl::SleepFor(absl::Milliseconds(500));  // tidy: silence is what is tested.
  v1::ClientMessage ping;
  ping.mutable_command()->set_id(1);
  ping.mutable_command()->mutable_ping();
  greeted->Write(ping);
  EXPECT_TRUE(greeted->Read().has_value()) << "It has said its Hello.";
}

TEST_F(Streams, AnEndedSessionWhoseClientReadsNothingIsCancelled) {
  Start(absl::Milliseconds(300));
  constexpr uint64_t kDownloads = 400;  // The answers are 24 MB.
  absl::Status status;
  // A busy machine may check late whether the client has read; then the client waits longer.
  for (absl::Duration silence = absl::Seconds(1); status.ok() && silence < absl::Seconds(10); silence *= 2) {
    const std::unique_ptr<Stream> session = Connect();
    v1::ClientMessage message = UploadOf(1, 60'000);
    message.mutable_command()->mutable_upload()->set_inline_(std::string(60'000, 'x'));
    session->Write(message);
    uint64_t id = 1;
    while (id <= kDownloads) {
      message.Clear();
      message.mutable_command()->set_id(++id);
      message.mutable_command()->mutable_download()->set_handle(1);
      message.mutable_command()->mutable_download()->set_cause(static_cast<int>(Cause::kDownload));
      message.mutable_command()->mutable_download()->set_inline_(true);
      session->Write(message);
    }
    message.Clear();
    message.mutable_command()->set_id(++id);
    message.mutable_command()->mutable_goodbye();
    session->Write(message);
    absl::SleepFor(silence);  // tidy: that the client reads nothing for a while is what is tested.
    while (session->Read().has_value()) {
    }
    status = session->Finish();
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
}

TEST_F(Streams, ChunksOfUploadsThatAreNotDeclaredAreCharged) {
  Start(absl::Seconds(10), Limits{.staging_bytes_max = 5 << 19});  // 2.5 MiB
  const std::unique_ptr<Stream> session = Connect();
  const std::string data(1 << 20, 'x');
  std::vector<std::unique_ptr<Stream>> bulk;
  int refused = 0;
  for (uint64_t command = 1; command <= 4; ++command) {
    const v1::TransferId id = TransferOf(command);
    bulk.push_back(Open("/hlod.v1.Bulk/Upload"));
    bulk.back()->Write(rpc::EncodeChunk(&id, {reinterpret_cast<const std::byte*>(data.data()), data.size()}));
  }
  // Two of them fit.
  for (int i = 2; i < 4; ++i) {
    EXPECT_FALSE(bulk[i]->Read().has_value());
    const absl::Status status = bulk[i]->Finish();
    if (KindOf(status) == ErrorKind::kLimit) ++refused;
    EXPECT_THAT(std::string(status.message()), HasSubstr("staging_bytes_max"));
  }
  EXPECT_EQ(refused, 2);
}

TEST_F(Streams, HealthWatchesAreFew) {
  std::vector<std::unique_ptr<Stream>> watches;
  for (int64_t i = 0; i < Health::kPerOwnerMax; ++i) {
    watches.push_back(Open("/grpc.health.v1.Health/Watch"));
    ASSERT_TRUE(watches.back()->Read().has_value()) << i;
  }
  const std::unique_ptr<Stream> one_more = Open("/grpc.health.v1.Health/Watch");
  EXPECT_FALSE(one_more->Read().has_value());
  EXPECT_EQ(KindOf(one_more->Finish()), ErrorKind::kLimit);
  server_->registry().Drain();
  for (const std::unique_ptr<Stream>& watch : watches) EXPECT_EQ(watch->Read(), std::string("\x08\x02"));
}

TEST_F(Streams, HealthWatchesWithoutTheTokenTakeNoPlacesOfOthers) {
  ServerOptions options;
  options.listen.push_back(rpc::ParseEndpoint("127.0.0.1:0").value());
  options.token = "open sesame";
  const std::unique_ptr<Server> server = Server::Start(std::move(options), *devices_).value();
  channel_ = grpc::CreateChannel(rpc::ToString(server->endpoints()[0]), grpc::InsecureChannelCredentials());
  std::vector<std::unique_ptr<Stream>> watches;
  for (int64_t i = 0; i < Health::kPerOwnerMax; ++i) {
    watches.push_back(Open("/grpc.health.v1.Health/Watch"));
    ASSERT_TRUE(watches.back()->Read().has_value()) << i;
  }
  EXPECT_FALSE(Open("/grpc.health.v1.Health/Watch")->Read().has_value());
  const auto holder = std::make_unique<Stream>(channel_, "/grpc.health.v1.Health/Watch", "open sesame");
  EXPECT_TRUE(holder->Read().has_value());
}

TEST_F(Streams, AHealthWatchGoesOnAndTellsOfTheDrain) {
  const std::unique_ptr<Stream> watch = Open("/grpc.health.v1.Health/Watch");
  watch->Write(grpc::ByteBuffer(ToByteBuffer(std::string())));
  watch->HalfClose();
  EXPECT_EQ(watch->Read(), std::string("\x08\x01"));
  server_->registry().Drain();
  EXPECT_EQ(watch->Read(), std::string("\x08\x02"));
  const std::unique_ptr<Stream> check = Open("/grpc.health.v1.Health/Check");
  check->Write(grpc::ByteBuffer(ToByteBuffer(std::string())));
  EXPECT_EQ(check->Read(), std::string("\x08\x02"));
}

TEST_F(Streams, AReflectionRequestOfManyQuestionsIsAnsweredOnce) {
  google::protobuf::UnknownFieldSet fields;
  for (int i = 0; i < 10'000; ++i) fields.AddLengthDelimited(4, "hlod.v1.Session");
  std::string request;
  fields.SerializeToString(&request);
  const std::unique_ptr<Stream> reflection =
      Open("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
  reflection->Write(ToByteBuffer(request));
  const std::optional<std::string> answer = reflection->Read();
  ASSERT_TRUE(answer.has_value());
  EXPECT_THAT(*answer, HasSubstr("proto/hlod/v1/session.proto"));
  EXPECT_LT(answer->size(), request.size() + (256 << 10));
}

TEST_F(Streams, AReflectionStreamThatSaysNothingMoreIsEnded) {
  Start(absl::Milliseconds(200));
  const std::unique_ptr<Stream> reflection =
      Open("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
  const grpc::ByteBuffer list_services = ToByteBuffer(std::string("\x3a\x01*"));
  reflection->Write(list_services);
  EXPECT_TRUE(reflection->Read().has_value());
  EXPECT_FALSE(reflection->Read().has_value());
  const absl::Status status = reflection->Finish();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

TEST_F(Streams, ADrainWaitsForWhatIsUnderWay) {
  const auto never = [] { return false; };
  const std::unique_ptr<Stream> session = Connect();
  EXPECT_TRUE(server_->Drain(absl::Seconds(10), never)) << "Nothing is.";
  session->Write(UploadOf(1, kBytes));
  ASSERT_TRUE(Soon(/*used=*/true));
  EXPECT_FALSE(server_->Drain(absl::Milliseconds(100), never)) << "An upload is.";
  EXPECT_FALSE(server_->Drain(absl::Seconds(10), [] { return true; })) << "Who is asked again gives up.";
}

TEST_F(Streams, CallsThatHaveSentNothingAreBounded) {
  Start(absl::Minutes(10));
  std::vector<std::unique_ptr<Stream>> silent;
  // On a busy machine the last begins long after the first, which must not have ended by then.
  const auto add = [&] {
    silent.push_back(
        std::make_unique<Stream>(channel_, "/hlod.v1.Session/Connect", "", absl::InfiniteDuration()));
  };
  for (int64_t i = 0; i < SilentCalls::kPerOwnerMax; ++i) add();
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // Forces a new connection.
  channel_ = grpc::CreateCustomChannel("unix:" + folder_ + "/hlod.sock", grpc::InsecureChannelCredentials(),
                                       arguments);
  const auto check = [this] {
    const std::unique_ptr<Stream> call = Open("/hlod.v1.Admin/ListDevices");
    call->Write(ToByteBuffer(std::string()));
    call->HalfClose();
    while (call->Read().has_value()) {  // A call with unread messages does not have a status yet.
    }
    return call->Finish();
  };
  // The calls may not have reached the daemon yet. Where it is slow to take them, their headers fill the
  // quota of the connection, and gRPC resets some: others take their places.
  absl::Status status;
  EXPECT_TRUE(device::Eventually([&] {
    status = check();
    if (status.ok()) add();
    return !status.ok();
  }));
  EXPECT_EQ(KindOf(status), ErrorKind::kLimit) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("1024"));
  silent.resize(10);
  EXPECT_TRUE(device::Eventually([&] { return (status = check()).ok(); })) << status;
}

}  // namespace
}  // namespace hlod::grpc_server
