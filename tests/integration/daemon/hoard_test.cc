// One session against others: whatever it hoards, leaves unread or never ends, the others' work goes on.
#include <grpcpp/generic/generic_stub.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <latch>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "common/rpc/grpc/chunk.h"
#include "common/rpc/shared_memory.h"
#include "tests/integration/support/harness.h"
#include "tests/integration/support/relay.h"

namespace hlod {
namespace {

// A client that does a little work repeatedly, and checks that none is lost.
class Bystander {
 public:
  explicit Bystander(Client client) : client_(std::move(client)) {
    increment_ = std::make_unique<Executable>(Must(client_.CompileText(IncrementProgram(8))));
    x_ = std::make_unique<Buffer>(Must(client_.device(0).Upload(Literal(Shape::Array(hlo::kF32, {8})))));
  }
  void Work() {
    *x_ = Must(increment_->Execute({*x_}, {.donate = {0}}))[0];
    EXPECT_EQ(Must(x_->ToLiteral()).data<float>()[3], static_cast<float>(++executes_));
  }
  // Expects that its connection was never broken.
  void ExpectUndisturbed() {
    const SessionStats stats = Must(client_.Stats());
    EXPECT_EQ(stats.replayed_commands, 0);
    EXPECT_EQ(stats.executes, executes_);
  }

 private:
  const Client client_;
  std::unique_ptr<Executable> increment_;
  std::unique_ptr<Buffer> x_;
  int executes_ = 0;
};

// Sends bulk uploads for commands that never come; each stream has more to send.
class Hoarder {
 public:
  explicit Hoarder(const std::string& address) : session_(address), stub_(session_.channel()) {}
  ~Hoarder() {
    for (const auto& stream : streams_) stream->context.TryCancel();
    queue_.Shutdown();
    void* tag;
    bool ok;
    while (queue_.Next(&tag, &ok)) {
    }
  }
  void Upload() {
    Stream& stream = *streams_.emplace_back(std::make_unique<Stream>());
    stream.transfer = session_.TransferOf(1000 + streams_.size());
    stream.call = stub_.PrepareCall(&stream.context, "/hlod.v1.Bulk/Upload", &queue_);
    stream.call->StartCall(&stream);
  }
  // Continues every stream that can continue.
  void Advance() {
    void* tag;
    bool ok;
    while (queue_.AsyncNext(&tag, &ok, gpr_inf_past(GPR_CLOCK_MONOTONIC)) ==
           grpc::CompletionQueue::GOT_EVENT) {
      if (!ok) continue;
      Stream& stream = *static_cast<Stream*>(tag);
      // The first chunk names the upload, and the next ones fill the window.
      const bool first = stream.chunks++ == 0;
      const absl::Span<const std::byte> bytes(bytes_.data(), first ? 1000 : bytes_.size());
      stream.call->Write(rpc::EncodeChunk(first ? &stream.transfer : nullptr, bytes), &stream);
    }
  }
  size_t begun() const {
    return static_cast<size_t>(std::count_if(streams_.begin(), streams_.end(),
                                             [](const auto& stream) { return stream->chunks > 0; }));
  }

 private:
  struct Stream {
    grpc::ClientContext context;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call;
    v1::TransferId transfer;
    int chunks = 0;
  };
  RawSession session_;
  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(15 << 20);
  std::vector<std::unique_ptr<Stream>> streams_;
};

class Hoard : public ::testing::TestWithParam<bool> {
 protected:
  void Start(std::vector<std::string> flags = {}) {
    daemon_ = std::make_unique<testing::Daemon>(
        Must(testing::Daemon::Start({.tcp = GetParam(), .flags = std::move(flags)})));
  }
  const std::string& address() const { return GetParam() ? daemon_->tcp_address() : daemon_->address(); }
  Client Connect() const { return Must(GetParam() ? daemon_->ConnectTcp() : daemon_->Connect()); }
  std::unique_ptr<testing::Daemon> daemon_;
};

// More than gRPC's limit for all connections of a user together, beyond which it reset further streams.
TEST_P(Hoard, OfBulkUploadsThatAreNeverDeclaredEndsNobodyElsesCalls) {
  Start();
  Bystander bystander(Connect());
  Hoarder one(address()), another(address());
  for (int i = 0; i < 300; ++i) {
    one.Upload();
    another.Upload();
    one.Advance();
    another.Advance();
    bystander.Work();
  }
  for (int i = 0; i < 100; ++i) {
    one.Advance();
    another.Advance();
    bystander.Work();
  }
  EXPECT_GT(one.begun(), 100u);
  bystander.ExpectUndisturbed();
  Bystander(Connect()).Work();
}

// Answers that wait to be acknowledged, and endless commands.
TEST_P(Hoard, OfAnswersThatAreNeverAcknowledgedLetsOthersConnectAndWork) {
  Start({"--unacknowledged-bytes-max", "4MiB"});
  Bystander bystander(Connect());
  constexpr int kHoarders = 20, kEnough = 100;  // The answers have six megabytes.
  absl::Notification stop;
  std::latch hoards(kHoarders);
  std::vector<std::thread> hoarders;
  for (int i = 0; i < kHoarders; ++i) {
    hoarders.emplace_back([&] {
      RawSession session(address());
      const uint64_t handle = session.NewHandle();
      session.Send(UploadOf(handle, Literal(Shape::Array(hlo::kF32, {15'000}))));
      for (int n = 0; n < kEnough; ++n) session.Send(DownloadOf(handle));
      hoards.count_down();
      for (int n = 0; n < 200 && !stop.HasBeenNotified(); ++n) session.Send(DownloadOf(handle));
      stop.WaitForNotification();
    });
  }
  for (int i = 0; i < 100; ++i) bystander.Work();  // Works while they begin.
  hoards.wait();
  for (int i = 0; i < 100; ++i) bystander.Work();
  for (int i = 0; i < 5; ++i) Bystander(Connect()).Work();
  stop.Notify();
  for (std::thread& hoarder : hoarders) hoarder.join();
  bystander.ExpectUndisturbed();
}
INSTANTIATE_TEST_SUITE_P(Over, Hoard, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Tcp" : "Unix"; });

// A daemon with a limit on open files that a handful of connections reaches.
TEST(FewDescriptors, ConnectionsBeyondThemAreRefusedWithAReasonAndUploadsOfOthersDoNotWait) {
  char folder[] = "/tmp/hlod-descriptors-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string wrapper = std::string(folder) + "/hlod";
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  {
    std::ofstream script(wrapper);
    script << "#!/bin/sh\nulimit -n 40\nexec "
           << (self.parent_path() / "../bin/hlod").lexically_normal().string() << " \"$@\"\n";
  }
  std::filesystem::permissions(wrapper, std::filesystem::perms::owner_all);
  {
    const testing::Daemon daemon = Must(testing::Daemon::Start({.binary = wrapper}));
    std::vector<Client> clients;
    absl::StatusOr<Client> next = daemon.Connect();
    for (; next.ok() && clients.size() < 40; next = daemon.Connect()) clients.push_back(*std::move(next));
    EXPECT_EQ(KindOf(next.status()), ErrorKind::kLimit) << next.status();
    EXPECT_NE(next.status().message().find("40 files"), std::string::npos) << next.status();
    ASSERT_GE(clients.size(), 1u);
    for (const Client& client : clients) {
      const Literal value = Counting(100'000);  // The shared arena takes another descriptor.
      EXPECT_TRUE(Must(Must(client.device(0).Upload(value)).ToLiteral()) == value);
    }
    clients.clear();
    for (int i = 0; i < 1000 && !(next = daemon.Connect()).ok(); ++i)
      absl::SleepFor(absl::Milliseconds(10));  // tidy: nobody tells that a connection has closed.
    EXPECT_OK(next.status());
  }
  std::filesystem::remove_all(folder);
}

// Values up to 64 KiB travel inside commands and answers.
TEST(Corruption, OfMessagesIsNoticedAndTheSessionGoesOn) {
  const testing::Daemon daemon = Must(testing::Daemon::Start());
  Relay relay(daemon.address());
  ConnectOptions options;
  options.address = relay.address();
  options.shared_memory = false;
  const Client client = Must(Client::Connect(options));
  const std::vector<char> bytes(50'000, Relay::kPayload);
  Literal value(Shape::Array(hlo::kU8, {50'000}));
  std::memcpy(value.data<uint8_t>().data(), bytes.data(), bytes.size());
  constexpr int kRounds = 20;
  for (int i = 0; i < kRounds; ++i) {
    relay.to_corrupt = 1;
    const Buffer up = Must(client.device(0).Upload(value));
    ASSERT_OK(up.ready().Await());
    EXPECT_LE(relay.to_corrupt, 0) << "on the way to the daemon";
    relay.to_corrupt = 1;
    EXPECT_TRUE(Must(up.ToLiteral()) == value) << i;
    EXPECT_LE(relay.to_corrupt, 0) << "on the way back";
  }
  const SessionStats stats = Must(client.Stats());
  EXPECT_EQ(stats.host_to_device, (Amount{kRounds * 50'000, kRounds}));
  EXPECT_EQ(stats.device_to_host, (Amount{kRounds * 50'000, kRounds}));
}

}  // namespace
}  // namespace hlod
