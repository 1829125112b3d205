// Several commands are sent per message, together with drops; a daemon that accepts one command per message
// gets one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "client/runtime/session/outbox.h"
#include "client/runtime/session/session.h"
#include "client/runtime/session/state.h"
#include "client/runtime/transfer/transfer.h"
#include "tests/unit/client/runtime/fake_daemon.h"

namespace hlod::runtime {
namespace {

using testing::ElementsAre;

v1::ClientMessage Parse(const MessageParts& parts) {
  std::string bytes;
  for (const std::shared_ptr<const std::string>& part : parts) bytes += *part;
  v1::ClientMessage message;
  EXPECT_TRUE(message.ParseFromString(bytes));
  return message;
}

v1::Command Ping(uint64_t id = 0) {
  v1::Command command;
  command.set_id(id);
  command.mutable_ping();
  return command;
}

TEST(Outbox, GathersCommandsUpToTheDaemonsLimit) {
  Outbox outbox;
  outbox.set_commands_per_message_max(2);
  for (uint64_t id = 1; id <= 3; ++id) outbox.AddCommand(outbox.Encode(Ping(id)));
  v1::ClientMessage header;
  header.set_ack_through(7);
  const v1::ClientMessage first = Parse(outbox.Next(header)), second = Parse(outbox.Next(header));
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(first.ack_through(), 7u);
  ASSERT_EQ(first.commands_size(), 2);
  EXPECT_EQ(first.commands(0).id(), 1u);
  EXPECT_EQ(first.commands(1).id(), 2u);
  ASSERT_EQ(second.commands_size(), 1);
  EXPECT_EQ(second.commands(0).id(), 3u);
}

TEST(Outbox, SendsOneCommandAMessageToADaemonThatTakesNoMore) {
  Outbox outbox;
  for (uint64_t id = 1; id <= 2; ++id) outbox.AddCommand(outbox.Encode(Ping(id)));
  for (uint64_t id = 1; id <= 2; ++id) {
    const v1::ClientMessage message = Parse(outbox.Next({}));
    EXPECT_EQ(message.commands_size(), 0);
    EXPECT_EQ(message.command().id(), id);
  }
}

TEST(Outbox, ALongCommandTravelsAloneAndIsNotCopied) {
  Outbox outbox;
  outbox.set_commands_per_message_max(64);
  v1::Command upload;
  upload.mutable_upload()->set_inline_(std::string(60 << 10, 'x'));
  for (int i = 0; i < 2; ++i) outbox.AddCommand(outbox.Encode(upload));
  const std::shared_ptr<const std::string> third = outbox.Encode(upload);
  outbox.AddCommand(third);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Parse(outbox.Next({})).commands_size(), 1);
  const MessageParts last = outbox.Next({});
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0], third);
}

TEST(Outbox, ACancelKeepsItsPlaceAmongCommands) {
  Outbox outbox;
  outbox.set_commands_per_message_max(64);
  outbox.AddCommand(outbox.Encode(Ping(1)));
  outbox.AddCancel(1);
  outbox.AddCommand(outbox.Encode(Ping(2)));
  EXPECT_EQ(Parse(outbox.Next({})).commands(0).id(), 1u);
  const v1::ClientMessage cancel = Parse(outbox.Next({}));
  EXPECT_EQ(cancel.cancel().command(), 1u);
  EXPECT_EQ(cancel.commands_size(), 0);
  EXPECT_EQ(Parse(outbox.Next({})).commands(0).id(), 2u);
}

class Messages : public ::testing::Test {
 protected:
  ~Messages() override { shared_->End(); }
  std::shared_ptr<Session> Open() {
    shared_->limits.try_emplace("commands_per_message_max", 64);
    return Session::Open(std::make_unique<FakeConnector>(shared_), {.name = "test"}).value();
  }
  static std::vector<Command> SendTogether(Session& session, int count) {
    std::vector<Command> sent;
    EXPECT_TRUE(session
                    .Transact({},
                              [&](Session::Sender& sender) {
                                for (int i = 0; i < count; ++i) sent.push_back(sender.Add(Ping()));
                              })
                    .ok());
    return sent;
  }
  // Creates and drops a buffer of `bytes` bytes.
  static void Drop(const std::shared_ptr<Session>& session, uint64_t handle, int64_t bytes) {
    const BufferState buffer(session, handle, Shape::Array(hlo::kU8, {bytes}), 0,
                             std::make_shared<CommandState>(), false);
  }
  const std::shared_ptr<FakeDaemon> shared_ = std::make_shared<FakeDaemon>();
};

TEST_F(Messages, ATransactionIsOneMessage) {
  const std::shared_ptr<Session> session = Open();
  const std::vector<Command> sent = SendTogether(*session, 3);
  ASSERT_TRUE(session->Wait(*sent[2]).ok());
  ASSERT_EQ(shared_->messages.size(), 1u);
  EXPECT_EQ(shared_->messages[0].commands_size(), 3);
}

TEST_F(Messages, WhatWasDroppedIsFreedInTheNextCommandsMessage) {
  const std::shared_ptr<Session> session = Open();
  Drop(session, 5, 4);
  Drop(session, 6, 4);
  EXPECT_TRUE(shared_->messages.empty());
  SendTogether(*session, 1);
  ASSERT_EQ(shared_->messages.size(), 1u);
  ASSERT_EQ(shared_->messages[0].commands_size(), 2);
  EXPECT_THAT(shared_->messages[0].commands(0).free().handles(), ElementsAre(5, 6));
  EXPECT_TRUE(shared_->messages[0].commands(1).has_ping());
}

TEST_F(Messages, MuchThatWasDroppedIsFreedAtOnce) {
  const std::shared_ptr<Session> session = Open();
  Drop(session, 5, Session::kDroppedBytesMax - 1);
  EXPECT_TRUE(shared_->messages.empty());
  Drop(session, 6, 1);
  ASSERT_EQ(shared_->messages.size(), 1u);
  EXPECT_THAT(shared_->messages[0].commands(0).free().handles(), ElementsAre(5, 6));
  Drop(session, 7, Session::kDroppedBytesMax - 1);
  EXPECT_EQ(shared_->messages.size(), 1u) << "what was freed does not count again";
}

TEST_F(Messages, ManySmallBuffersThatWereDroppedAreFreedTogether) {
  const std::shared_ptr<Session> session = Open();
  for (uint64_t handle = 1; handle <= 5000; ++handle) Drop(session, handle, 1);
  EXPECT_GE(shared_->messages.size(), 1u);
  EXPECT_LE(shared_->messages.size(), 10u);
}

TEST_F(Messages, APlaceholderHoldsNothingThatWouldHaveToBeFreedAtOnce) {
  const std::shared_ptr<Session> session = Open();
  {
    const BufferState buffer(session, 5, Shape::Array(hlo::kU8, {int64_t{1} << 40}), 0,
                             std::make_shared<CommandState>(), /*placeholder=*/true);
  }
  EXPECT_TRUE(shared_->messages.empty());
}

TEST_F(Messages, OfAMessageThatTheDaemonReceivedInPartTheRestIsSentAgain) {
  shared_->on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  const std::vector<Command> sent = SendTogether(*session, 5);
  ASSERT_EQ(shared_->messages.size(), 1u);
  shared_->messages.clear();
  shared_->received_through = 2;
  shared_->on_command = FakeDaemon::Settle;
  shared_->pipe->End(absl::UnavailableError("reset"));
  ASSERT_TRUE(session->Wait(*sent[4]).ok());
  ASSERT_EQ(shared_->messages.size(), 1u);
  ASSERT_EQ(shared_->messages[0].commands_size(), 3);
  EXPECT_EQ(shared_->messages[0].commands(0).id(), 3u);
  EXPECT_EQ(shared_->messages[0].commands(2).id(), 5u);
}

v1::Command Upload(Session::Sender& sender) {
  v1::Command command;
  command.mutable_upload()->set_handle(sender.NewHandle());
  return command;
}

TEST_F(Messages, ASmallUploadTravelsWithTheCommandThatFollows) {
  const std::shared_ptr<Session> session = Open();
  UploadRequest request;
  const std::vector<std::byte> bytes(100);
  ASSERT_TRUE(InlineTransfer().Upload(*session, request, bytes, {}).ok());
  EXPECT_TRUE(shared_->messages.empty());
  SendTogether(*session, 1);
  ASSERT_EQ(shared_->messages.size(), 1u);
  ASSERT_EQ(shared_->messages[0].commands_size(), 2);
  EXPECT_EQ(shared_->messages[0].commands(0).upload().inline_().size(), 100u);
}

TEST_F(Messages, ASmallUploadIsSentWhenSomebodyWaitsForItOrLooks) {
  const std::shared_ptr<Session> session = Open();
  const std::vector<std::byte> bytes(100);
  for (const bool wait : {true, false}) {
    UploadRequest request;
    const Command sent = InlineTransfer().Upload(*session, request, bytes, {}).value();
    EXPECT_FALSE(sent->done);
    if (wait) {
      EXPECT_TRUE(session->Wait(*sent, absl::Now() + absl::Seconds(20)).ok());
    } else {
      session->Drain();
      session->Drain();
      EXPECT_TRUE(sent->done);
    }
  }
}

TEST_F(Messages, ALargerUploadIsSentAtOnce) {
  const std::shared_ptr<Session> session = Open();
  UploadRequest request;
  const std::vector<std::byte> bytes(32 << 10);
  ASSERT_TRUE(InlineTransfer().Upload(*session, request, bytes, {}).ok());
  EXPECT_EQ(shared_->messages.size(), 1u);
}

// Settles commands like a daemon that sends no progress unless a thread waits.
void KeepQuiet(FakeDaemon& daemon) {
  daemon.on_command = [&daemon](const v1::Command& command, FakePipe& pipe) {
    if (!daemon.messages.back().quiet()) FakeDaemon::Settle(command, pipe);
  };
  daemon.on_header = [&daemon](const v1::ClientMessage& message, FakePipe& pipe) {
    if (message.quiet() || daemon.commands().empty()) return;
    FakeDaemon::Settle(daemon.commands().back(), pipe);
  };
}

TEST_F(Messages, WhoWaitsForAQuietCommandAsksForProgressOnce) {
  KeepQuiet(*shared_);
  const std::shared_ptr<Session> session = Open();
  const auto upload = [&] {
    Command sent;
    EXPECT_TRUE(session->Transact({}, [&](Session::Sender& s) { sent = s.Add(Upload(s)); }).ok());
    return sent;
  };
  for (int i = 0; i < 20; ++i) upload();
  ASSERT_EQ(shared_->messages.size(), 20u);
  EXPECT_TRUE(shared_->messages.back().quiet());
  EXPECT_TRUE(session->Wait(*upload(), absl::Now() + absl::Seconds(20)).ok());
  EXPECT_EQ(shared_->messages.size(), 22u);
  EXPECT_FALSE(shared_->messages.back().quiet());
  // From here on the session assumes that a thread waits.
  EXPECT_TRUE(session->Wait(*upload(), absl::Now() + absl::Seconds(20)).ok());
  EXPECT_EQ(shared_->messages.size(), 23u);
  for (int i = 0; i < 20; ++i) upload();
  EXPECT_TRUE(shared_->messages.back().quiet()) << "nobody waited for long";
}

TEST_F(Messages, WhoLooksAtAQuietCommandAsksForProgress) {
  KeepQuiet(*shared_);
  const std::shared_ptr<Session> session = Open();
  Command sent;
  ASSERT_TRUE(session->Transact({}, [&](Session::Sender& s) { sent = s.Add(Upload(s)); }).ok());
  for (int i = 0; i < 3; ++i) session->Drain();
  EXPECT_TRUE(sent->done);
}

TEST_F(Messages, WhoWaitsForAReplyDoesNotAskForProgress) {
  shared_->on_command = [](const v1::Command& command, FakePipe& pipe) {
    v1::ServerMessage message;
    message.add_replies()->set_command(command.id());
    message.set_settled_through(command.id());
    pipe.Answer(std::move(message));
  };
  const std::shared_ptr<Session> session = Open();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(session->Wait(*SendTogether(*session, 1)[0]).ok());
  EXPECT_EQ(shared_->messages.size(), 3u);
  for (const v1::ClientMessage& message : shared_->messages) EXPECT_TRUE(message.quiet());
}

TEST_F(Messages, ADaemonThatDoesNotNameTheLimitGetsOneCommandAMessage) {
  shared_->limits["commands_per_message_max"] = 0;
  const std::shared_ptr<Session> session = Open();
  ASSERT_TRUE(session->Wait(*SendTogether(*session, 3)[2]).ok());
  ASSERT_EQ(shared_->messages.size(), 3u);
  for (const v1::ClientMessage& message : shared_->messages) EXPECT_TRUE(message.has_command());
}

}  // namespace
}  // namespace hlod::runtime
