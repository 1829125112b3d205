// Several commands in one message are handled in order, and answered together and once each; also messages of
// a hostile client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/session/pipe.h"

namespace hlod::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

v1::Command WithId(uint64_t id, v1::Command command) {
  command.set_id(id);
  return command;
}

TEST(Message, ItsCommandsAreHandledInOrder) {
  Daemon daemon;
  Client client(daemon);
  client.SendTogether({client.CompileOf(1, device::AddProgram()), client.UploadOf({1, 2, 3, 4}, 2),
                       client.UploadOf({10, 20, 30, 40}, 3), client.ExecuteOf(1, {2, 3}, {4}),
                       client.DownloadOf(4), client.FreeOf({2, 3, 4})});
  EXPECT_EQ(client.Await(5).download().inline_(), Client::Bytes({11, 22, 33, 44}));
  EXPECT_FALSE(client.Await(6).has_error());
}

TEST(Message, WhatIsAnsweredAtOnceIsAnsweredTogether) {
  Daemon daemon;
  Client client(daemon);
  client.SendTogether(
      {client.UploadOf({1, 2, 3, 4}, 1), client.DownloadOf(1), client.PingOf(), client.FreeOf({1})});
  const std::optional<v1::ServerMessage> answer = client.stream().Next();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->settled_through(), 4u);
  ASSERT_EQ(answer->replies_size(), 2);
  EXPECT_EQ(answer->replies(0).download().inline_(), Client::Bytes({1, 2, 3, 4}));
  EXPECT_TRUE(answer->replies(1).has_pong());
}

TEST(Message, TakesAsManyCommandsAsTheLimitAndNoMore) {
  Daemon daemon(Limits{.commands_per_message_max = 4});
  Client client(daemon);
  client.SendTogether({4, client.PingOf()});
  EXPECT_TRUE(client.Await(4).has_pong());
  client.SendTogether({5, client.PingOf()});
  EXPECT_EQ(KindOf(client.Ended()), ErrorKind::kViolation);
  EXPECT_THAT(std::string(client.Ended().message()), HasSubstr("commands_per_message_max is 4"));
}

TEST(Message, CommandsBesideAnythingElseEndTheSession) {
  for (int other = 0; other < 3; ++other) {
    Daemon daemon;
    Client client(daemon);
    v1::ClientMessage message;
    *message.add_commands() = WithId(1, client.PingOf());
    if (other == 0) *message.mutable_command() = WithId(1, client.PingOf());
    if (other == 1) message.mutable_cancel()->set_command(1);
    if (other == 2) message.mutable_hello();
    client.SendRaw(message);
    EXPECT_EQ(KindOf(client.Ended()), ErrorKind::kViolation) << other;
  }
}

TEST(Message, AViolationInTheMiddleEndsTheSessionAndLeavesTheRestAlone) {
  const std::function<std::vector<v1::Command>(Client&)> violations[] = {
      [](Client& c) { return std::vector{WithId(1, c.PingOf()), WithId(3, c.PingOf())}; },
      [](Client& c) { return std::vector{WithId(2, c.PingOf()), WithId(1, c.PingOf())}; },
      [](Client& c) { return std::vector{c.PlaceholderOf(5), c.PlaceholderOf(5)}; },
      [](Client&) { return std::vector{v1::Command()}; },
  };
  for (size_t i = 0; i < std::size(violations); ++i) {
    Daemon daemon;
    Client client(daemon);
    client.SendTogether(violations[i](client));
    EXPECT_EQ(KindOf(client.Ended()), ErrorKind::kViolation) << "violation " << i << ": " << client.Ended();
    EXPECT_EQ(daemon.registry->size(), 0u);
  }
}

TEST(Message, CommandsThatCameBeforeAreLeftOutAndTheOthersHandled) {
  Daemon daemon;
  Client client(daemon);
  client.SendTogether({client.UploadOf({1, 2, 3, 4}, 1), client.PingOf()});
  client.Break();
  client.Connect(client.ResumeOf());
  EXPECT_EQ(client.welcome.received_through(), 2u);
  client.SendTogether(
      {WithId(1, client.UploadOf({1, 2, 3, 4}, 1)), WithId(2, client.PingOf()), client.DownloadOf(1)});
  EXPECT_EQ(client.Await(3).download().inline_(), Client::Bytes({1, 2, 3, 4}));
  EXPECT_EQ(client.Stats().host_to_device().calls(), 1);
  EXPECT_EQ(client.Stats().replayed_commands(), 2);
}

TEST(Message, FreeingTwiceOrWhatIsNotThereFailsTheCommandAlone) {
  Daemon daemon;
  Client client(daemon);
  client.SendTogether({client.UploadOf({1, 2, 3, 4}, 1), client.FreeOf({1}), client.FreeOf({1}),
                       client.FreeOf({77}), client.PingOf()});
  EXPECT_TRUE(client.Await(5).has_pong());
  EXPECT_FALSE(client.replies.contains(2));
  EXPECT_EQ(client.ErrorOfReply(client.Await(3)).kind, ErrorKind::kDeleted);
  EXPECT_EQ(client.ErrorOfReply(client.Await(4)).kind, ErrorKind::kUnknownHandle);
}

TEST(Message, EachCommandCountsAsUnderWay) {
  Daemon daemon(Limits{.commands_in_flight_max = 4});
  Client client(daemon);
  client.SendTogether({client.StreamUploadOf(1), client.PingOf(), client.PingOf(), client.PingOf(),
                       client.PingOf(), client.PingOf()});
  for (const uint64_t refused : {5, 6}) {
    EXPECT_EQ(client.ErrorOfReply(client.Await(refused)).kind, ErrorKind::kLimit);
  }
  EXPECT_FALSE(client.ended());
}

TEST(QuietMessage, WhatIsMerelySettledIsReportedWithAnAnswer) {
  Daemon daemon;
  Client client(daemon);
  client.quiet = true;
  client.SendTogether({client.UploadOf({1, 2, 3, 4}, 1), client.PlaceholderOf(2)});
  EXPECT_FALSE(client.machine()->answers().HasNews());
  client.machine()->answers().Flush();
  EXPECT_FALSE(client.stream().Next(absl::ZeroDuration()).has_value());
  client.SendTogether({client.DownloadOf(1)});
  const std::optional<v1::ServerMessage> answer = client.stream().Next();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->settled_through(), 3u);
  EXPECT_EQ(answer->replies_size(), 1);
}

TEST(QuietMessage, ItsErrorsAreReportedAtOnce) {
  Daemon daemon;
  Client client(daemon);
  client.quiet = true;
  client.SendTogether({client.FreeOf({77})});
  const std::optional<v1::ServerMessage> answer = client.stream().Next();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(client.ErrorOfReply(answer->replies(0)).kind, ErrorKind::kUnknownHandle);
}

TEST(QuietMessage, AMessageThatIsNotQuietAsksForWhatIsSettled) {
  Daemon daemon;
  Client client(daemon);
  client.quiet = true;
  client.SendTogether({client.PlaceholderOf(1)});
  EXPECT_FALSE(client.machine()->answers().HasNews());
  client.quiet = false;
  client.SendTogether({});
  EXPECT_EQ(client.stream().Next()->settled_through(), 1u);
}

TEST(QuietMessage, ManySettledCommandsAreReportedWithoutAnAnswer) {
  Daemon daemon;
  Client client(daemon);
  client.quiet = true;
  for (uint64_t handle = 1; handle < 64; ++handle) client.SendTogether({client.PlaceholderOf(handle)});
  EXPECT_FALSE(client.machine()->answers().HasNews());
  client.SendTogether({client.PlaceholderOf(64)});
  EXPECT_EQ(client.stream().Next()->settled_through(), 64u);
}

TEST(QuietMessage, ANewStreamIsNotQuiet) {
  Daemon daemon;
  Client client(daemon);
  client.quiet = true;
  client.SendTogether({client.PlaceholderOf(1)});
  client.Break();
  client.Connect(client.ResumeOf());
  client.machine()->answers().Flush();
  EXPECT_EQ(client.stream().Next(absl::ZeroDuration()).value_or(v1::ServerMessage()).settled_through(), 1u);
}

TEST(Message, AGoodbyeIsTheLastOfItsCommands) {
  Daemon daemon;
  Client client(daemon);
  v1::Command goodbye;
  goodbye.mutable_goodbye();
  client.SendTogether({client.UploadOf({1, 2, 3, 4}, 1), goodbye, client.UploadOf({1, 2, 3, 4}, 2)});
  EXPECT_TRUE(client.ended());
  EXPECT_TRUE(client.Ended().ok()) << client.Ended();
  EXPECT_EQ(daemon.used_bytes(), 0);
}

}  // namespace
}  // namespace hlod::session
