// Bytes that a connection may have received but not read are charged to its owner, in full and in advance.
#include "server/grpc/receive_quota.h"

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <utility>
#include <vector>

#include "common/base/errors/error.h"
#include "common/rpc/grpc/status.h"
#include "proto/hlod/v1/session.grpc.pb.h"
#include "server/grpc/server.h"
#include "tests/unit/server/device/testing.h"

namespace hlod::grpc_server {
namespace {

using testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;
constexpr ReceiveLimits kLimits{.stranger_bytes_max = kMiB,
                                .session_bytes_max = 4 * kMiB,
                                .busy_bytes_max = 10 * kMiB,
                                .resumed_bytes_max = 20 * kMiB,
                                .turn_bytes = 3 * kMiB,
                                .turns_max = 3};

std::shared_ptr<ReceiveQuota> MakeQuota(device::SideMemory& memory) {
  device::MemoryCharge charge(memory.ShareOf("one"));
  EXPECT_TRUE(charge.TryGrow(kLimits.stranger_bytes_max, "A connection").ok());
  return std::make_shared<ReceiveQuota>("test", kLimits, std::move(charge));
}

TEST(ReceiveQuota, IsChargedAndGrowsWithWhatComes) {
  device::SideMemory memory(100 * kMiB);
  std::shared_ptr<ReceiveQuota> quota = MakeQuota(memory);
  EXPECT_EQ(memory.used_bytes(), kMiB);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(quota->Admit().ok());
    EXPECT_EQ(memory.used_bytes(), 4 * kMiB) << "admitted once";
  }
  std::vector<ReceiveQuota::Turn> turns;
  const auto take = [&] {
    quota->AwaitTurn([&turns](ReceiveQuota::Turn turn) { turns.push_back(std::move(turn)); });
  };
  for (int i = 0; i < 4; ++i) take();
  ASSERT_EQ(turns.size(), 3u);
  EXPECT_EQ(memory.used_bytes(), (10 + 3 * 3) * kMiB);
  std::exchange(turns[0], nullptr).reset();  // The waiting request gets it.
  ASSERT_EQ(turns.size(), 4u);
  EXPECT_EQ(memory.used_bytes(), (10 + 3 * 3) * kMiB);
  turns.clear();
  EXPECT_EQ(memory.used_bytes(), 10 * kMiB);
  quota.reset();
  EXPECT_EQ(memory.used_bytes(), 0);
}

TEST(ReceiveQuota, OfAResumedSessionHasRoomForTheLargestMessageWhereThereIsMemory) {
  device::SideMemory large(100 * kMiB), small(10 * kMiB);
  const auto first = MakeQuota(large), second = MakeQuota(small);
  EXPECT_TRUE(first->Admit(ReceiveQuota::How::kResumed).ok());
  EXPECT_EQ(large.used_bytes(), 20 * kMiB);
  EXPECT_TRUE(second->Admit(ReceiveQuota::How::kResumed).ok());
  EXPECT_EQ(small.used_bytes(), 4 * kMiB);
}

TEST(ReceiveQuota, GrowsWithTheFirstLargeMessageAndShrinksWhenNoneFollows) {
  device::SideMemory memory(100 * kMiB);
  const auto quota = MakeQuota(memory);
  quota->OnMessage(kMiB);
  EXPECT_EQ(memory.used_bytes(), kMiB) << "a stranger's";
  EXPECT_TRUE(quota->Admit().ok());
  quota->OnMessage(kLimits.small_message_bytes_max);
  EXPECT_EQ(memory.used_bytes(), 4 * kMiB);
  const absl::Time start = absl::Now();
  quota->OnLargeMessage(start);
  quota->OnLargeMessage(start + absl::Seconds(5));
  EXPECT_EQ(memory.used_bytes(), 10 * kMiB);
  quota->Tick(start + absl::Seconds(5) + ReceiveQuota::kBusy / 2);
  EXPECT_EQ(memory.used_bytes(), 10 * kMiB);
  quota->Tick(start + absl::Seconds(5) + ReceiveQuota::kBusy);
  EXPECT_EQ(memory.used_bytes(), 4 * kMiB);
  {
    ReceiveQuota::Turn turn;
    quota->AwaitTurn([&turn](ReceiveQuota::Turn given) { turn = std::move(given); });
    EXPECT_EQ(memory.used_bytes(), (10 + 3) * kMiB);
    quota->Tick(absl::InfiniteFuture());
    EXPECT_EQ(memory.used_bytes(), (10 + 3) * kMiB) << "It has a turn.";
  }
  EXPECT_EQ(memory.used_bytes(), 10 * kMiB);
  quota->Tick(absl::InfiniteFuture());
  EXPECT_EQ(memory.used_bytes(), 4 * kMiB);
  quota->OnMessage(kLimits.small_message_bytes_max + 1);
  EXPECT_EQ(memory.used_bytes(), 10 * kMiB);
}

// The pieces of a program come one after the other. Over a slow connection each takes longer than kBusy.
TEST(ReceiveQuota, KeepsTheRoomWhileTheNextLargeMessageMayBeUnderWay) {
  device::SideMemory memory(100 * kMiB);
  const auto quota = MakeQuota(memory);
  EXPECT_TRUE(quota->Admit().ok());
  quota->OnMessage(kMiB);
  const absl::Time later = absl::Now() + 2 * ReceiveQuota::kBusy;
  quota->Tick(later);
  EXPECT_EQ(memory.used_bytes(), 10 * kMiB);
  quota->OnMessage(100);
  quota->Tick(later);
  EXPECT_EQ(memory.used_bytes(), 4 * kMiB);
}

TEST(ReceiveQuota, StaysAsItIsWithoutMemoryForLargeMessages) {
  device::SideMemory memory(10 * kMiB);
  const auto quota = MakeQuota(memory);
  EXPECT_TRUE(quota->Admit().ok());
  quota->OnMessage(kMiB);
  EXPECT_EQ(memory.used_bytes(), 4 * kMiB);
}

// Bulk uploads proceed one after the other when there is no memory to read several at once.
TEST(ReceiveQuota, AlwaysHasOneTurn) {
  device::SideMemory memory(8 * kMiB);  // One owner may use six of the eight MiB.
  const auto quota = MakeQuota(memory);
  EXPECT_TRUE(quota->Admit().ok());
  std::vector<ReceiveQuota::Turn> turns;
  for (int i = 0; i < 2; ++i)
    quota->AwaitTurn([&turns](ReceiveQuota::Turn turn) { turns.push_back(std::move(turn)); });
  EXPECT_EQ(turns.size(), 1u);
  EXPECT_EQ(memory.used_bytes(), 4 * kMiB);
  std::exchange(turns[0], nullptr).reset();
  EXPECT_EQ(turns.size(), 2u);
}

TEST(ReceiveQuota, RefusesASessionWithoutMemoryForItsMessages) {
  device::SideMemory memory(4 * kMiB);
  const auto quota = MakeQuota(memory);
  const absl::Status refused = quota->Admit();
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("side_memory is 4194304"));
  EXPECT_EQ(memory.used_bytes(), kMiB);
}

// Sessions over TCP, each on its own connection.
class ReceivedBytes : public testing::Test {
 protected:
  struct Stream {
    std::unique_ptr<v1::Session::Stub> stub;
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReaderWriter<v1::ClientMessage, v1::ServerMessage>> stream;
    v1::Welcome welcome;
    absl::Status status;  // The error of a session that did not open.
    ~Stream() { context.TryCancel(); }
  };
  void Start(int64_t side_bytes) {
    spdlog::set_level(spdlog::level::err);
    devices_ = device::MakeDevices(clock_, Limits{.grace_us = 60'000'000}, 64 << 20, 1, nullptr, side_bytes);
    ServerOptions options;
    options.listen.push_back(rpc::ParseEndpoint("127.0.0.1:0").value());
    server_ = Server::Start(std::move(options), *devices_).value();
  }
  std::unique_ptr<Stream> Open(const v1::Welcome* resumed = nullptr) {
    auto opened = std::make_unique<Stream>();
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, -1);
    opened->stub = v1::Session::NewStub(
        grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", server_->endpoints()[0].port),
                                  grpc::InsecureChannelCredentials(), arguments));
    opened->context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    opened->stream = opened->stub->Connect(&opened->context);
    v1::ClientMessage hello;
    hello.mutable_hello()->set_version_min(1);
    hello.mutable_hello()->set_version_max(1);
    if (resumed != nullptr) {
      v1::Resume& resume = *hello.mutable_hello()->mutable_resume();
      resume.set_epoch(resumed->epoch());
      resume.set_session(resumed->session());
      resume.set_secret(resumed->secret());
    }
    v1::ServerMessage answer;
    if (!opened->stream->Write(hello) || !opened->stream->Read(&answer)) {
      opened->status = rpc::FromGrpc(opened->stream->Finish());
    } else {
      opened->welcome = answer.welcome();
    }
    return opened;
  }
  // Returns true when the stream answers the command.
  static bool Answers(Stream& stream, v1::Command command, v1::Reply* reply = nullptr) {
    v1::ClientMessage message;
    *message.mutable_command() = std::move(command);
    if (!stream.status.ok() || !stream.stream->Write(message)) return false;
    for (v1::ServerMessage answer; stream.stream->Read(&answer);) {
      if (answer.replies().empty() && reply != nullptr) continue;
      if (reply != nullptr) *reply = answer.replies(0);
      return true;
    }
    return false;
  }
  static v1::Command Ping(uint64_t id) {
    v1::Command command;
    command.set_id(id);
    command.mutable_ping();
    return command;
  }

  const Clock clock_;
  std::unique_ptr<device::Devices> devices_;
  std::unique_ptr<Server> server_;
};

TEST_F(ReceivedBytes, AreWithinTheSumOfSideMemory) {
  const int64_t sum = 48 * kMiB, of_one_user = sum / 4 * 3;
  Start(sum);
  std::vector<std::unique_ptr<Stream>> open;
  absl::Status refused;
  while (refused.ok() && open.size() < 40) {
    auto next = Open();
    if (next->status.ok() && Answers(*next, Ping(1))) {
      open.push_back(std::move(next));
    } else {
      refused = next->status.ok() ? rpc::FromGrpc(next->stream->Finish()) : next->status;
    }
    EXPECT_LE(devices_->side_memory().used_bytes(), of_one_user);
    EXPECT_GE(devices_->side_memory().used_bytes(), static_cast<int64_t>(open.size()) * 2 * kMiB);
  }
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the limit side_memory is 50331648"));
  EXPECT_GE(open.size(), 8u);
  for (uint64_t id = 2; const auto& stream : open) EXPECT_TRUE(Answers(*stream, Ping(id)));
}

// So the sessions_per_user_max (64) of a user that are quiet leave its share for other things.
TEST_F(ReceivedBytes, OfManyQuietSessionsAreFew) {
  Start(device::Devices::Options{}.side_bytes);
  std::vector<std::unique_ptr<Stream>> open;
  for (int i = 0; i < 64; ++i) {
    open.push_back(Open());
    ASSERT_TRUE(open.back()->status.ok() && Answers(*open.back(), Ping(1))) << open.back()->status;
  }
  EXPECT_LE(devices_->side_memory().used_bytes(), 64 * (2 * kMiB + kMiB / 2));
}

// An execute of a million arguments is larger than the room that a session has at first.
TEST_F(ReceivedBytes, OfTheLargestMessagesComeWithAResume) {
  Start(device::Devices::Options{}.side_bytes);
  auto stream = Open();
  ASSERT_TRUE(stream->status.ok()) << stream->status;
  const v1::Welcome welcome = stream->welcome;
  v1::Command large;
  large.set_id(1);
  large.mutable_compile()->set_executable(1);
  large.mutable_compile()->set_module(std::string(14 * kMiB, 'x'));
  v1::Reply reply;
  if (!Answers(*stream, large, &reply)) {
    stream = Open(&welcome);
    ASSERT_TRUE(stream->status.ok()) << stream->status;
    ASSERT_TRUE(Answers(*stream, large, &reply)) << stream->stream->Finish().error_message();
  }
  EXPECT_EQ(reply.command(), 1u);
  EXPECT_THAT(reply.error().text(), HasSubstr("A module of 14680064 bytes"));
}

}  // namespace
}  // namespace hlod::grpc_server
