// Commands that finish behind a long one: their futures are ready, and their replies are acknowledged.
#include <gtest/gtest.h>

#include "client/runtime/session/session.h"
#include "tests/unit/client/runtime/fake_daemon.h"

namespace hlod::runtime {
namespace {

class Settlement : public ::testing::Test {
 protected:
  ~Settlement() override { shared_->End(); }
  std::shared_ptr<Session> Open() {
    return Session::Open(std::make_unique<FakeConnector>(shared_), {.name = "test"}).value();
  }
  static v1::Command Ping() {
    v1::Command command;
    command.mutable_ping();
    return command;
  }
  const std::shared_ptr<FakeDaemon> shared_ = std::make_shared<FakeDaemon>();
};

TEST_F(Settlement, ACommandNamedAsSettledIsDoneWhileAnEarlierOneIsNot) {
  shared_->on_command = [](const v1::Command& command, FakePipe& pipe) {
    v1::ServerMessage message;
    if (command.id() == 2) {
      for (const uint64_t id : {uint64_t{0}, uint64_t{2}, uint64_t{99}}) message.add_settled(id);
    }
    pipe.Answer(std::move(message));
  };
  const std::shared_ptr<Session> session = Open();
  const Command first = session->Send({}, Ping()).value();
  const Command second = session->Send({}, Ping()).value();
  EXPECT_TRUE(session->Wait(*second, absl::Now() + absl::Seconds(20)).ok());
  EXPECT_FALSE(first->done);
}

TEST_F(Settlement, ReplyBehindALongCommandIsAcknowledgedByNameOnce) {
  shared_->on_command = [](const v1::Command& command, FakePipe& pipe) {
    v1::ServerMessage message;
    if (command.id() == 2) message.add_replies()->set_command(2);
    pipe.Answer(std::move(message));
  };
  const std::shared_ptr<Session> session = Open();
  ASSERT_TRUE(session->Send({}, Ping()).ok());
  ASSERT_TRUE(session->Wait(*session->Send({}, Ping()).value()).ok());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(session->Send({}, Ping()).ok());
  ASSERT_EQ(shared_->messages.size(), 4u);
  ASSERT_EQ(shared_->messages[2].acknowledged_size(), 1);
  EXPECT_EQ(shared_->messages[2].acknowledged(0), 2u);
  EXPECT_EQ(shared_->messages[3].acknowledged_size(), 0);
}

TEST_F(Settlement, AHeldReplyIsAcknowledgedByNameWhenReleased) {
  shared_->on_command = [](const v1::Command& command, FakePipe& pipe) {
    v1::ServerMessage message;
    if (command.id() == 2) message.add_replies()->set_command(2);
    pipe.Answer(std::move(message));
  };
  const std::shared_ptr<Session> session = Open();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(session
                    ->Transact({},
                               [](Session::Sender& sender) {
                                 const Command sent = sender.Add(Ping());
                                 if (sent->id == 2) sender.HoldAcknowledgement(2);
                               })
                    .ok());
  }
  session->Drain();
  ASSERT_TRUE(session->Send({}, Ping()).ok());
  EXPECT_EQ(shared_->messages.back().acknowledged_size(), 0);
  session->ReleaseAcknowledgement(2);
  ASSERT_EQ(shared_->messages.back().acknowledged_size(), 1);
  EXPECT_EQ(shared_->messages.back().acknowledged(0), 2u);
}

TEST_F(Settlement, FinishedCommandsBehindALongOneDoNotHoldUpTheSender) {
  shared_->on_command = [](const v1::Command& command, FakePipe& pipe) {
    v1::ServerMessage message;
    if (command.id() > 1) message.add_settled(command.id());
    pipe.Answer(std::move(message));
  };
  const std::shared_ptr<Session> session = Open();
  const int many = static_cast<int>(session->daemon().limits.commands_in_flight_max);
  for (int i = 0; i < many; ++i) ASSERT_TRUE(session->Send({}, Ping()).ok());
}

// The daemon ends a session that is 17 times the limit ahead of a command that is not settled. It counts
// chunks of programs that are smaller than they could be.
TEST_F(Settlement, SmallChunksOfProgramsKeepTheirPlaceBehindALongOne) {
  shared_->limits["commands_in_flight_max"] = 8;
  shared_->on_command = [](const v1::Command& command, FakePipe& pipe) {
    v1::ServerMessage message;
    if (command.id() > 1) message.add_settled(command.id());
    pipe.Answer(std::move(message));
  };
  const std::shared_ptr<Session> session = Open();
  ASSERT_TRUE(session->Send({}, Ping()).ok());
  const auto compile = [](Session::Sender& sender) {
    v1::Command command;
    command.mutable_compile()->set_module_bytes(2);
    sender.Add(std::move(command));
    for (int i = 0; i < 2; ++i) {
      v1::Command chunk;
      chunk.mutable_program_chunk()->set_data("x");
      sender.Add(std::move(chunk));
    }
  };
  while (session->Transact({}, compile, /*may_wait=*/false).ok()) {
    session->Drain();
    ASSERT_LE(shared_->commands().size(), 16u * 8);
  }
  EXPECT_GE(shared_->commands().size(), 8u * 8);
}

}  // namespace
}  // namespace hlod::runtime
