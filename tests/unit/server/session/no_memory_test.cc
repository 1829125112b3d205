// A session that runs out of memory while it answers does not free anything twice, and leaves no command
// unanswered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/unit/server/session/pipe.h"

namespace hlod::session {
namespace {

TEST(NoMemory, AnAnswerThatCouldNotBeSentGoesWithTheNextMessage) {
  Daemon daemon;
  Client client(daemon);
  const std::shared_ptr<Session> session = client.machine();
  // Behind a long command, one command is reported by its id and one by a reply.
  client.Send(client.StreamUploadOf(1));
  client.quiet = true;
  const uint64_t named = client.last_command + 1;
  client.SendTogether({client.UploadOf({1, 2, 3, 4}, 2)});
  client.stream().SetNoMemory(true);
  v1::Reply reply;
  v1::ClientMessage message;
  message.mutable_command()->set_id(++client.last_command);
  message.mutable_command()->mutable_ping()->set_at_once(true);
  EXPECT_THROW((void)session->OnMessage(&client.stream(), message), std::bad_alloc);
  client.stream().SetNoMemory(false);
  EXPECT_TRUE(client.Await(client.last_command).has_pong());
  client.Await(named);
  EXPECT_TRUE(client.settled.contains(named));
}

TEST(NoMemory, ASessionThatEndsWithRepliesUnsentHasItsStreamFinished) {
  Daemon daemon;
  Client client(daemon);
  const std::shared_ptr<Session> session = client.machine();
  client.stream().SetNoMemory(true);
  v1::ClientMessage message;
  message.mutable_command()->set_id(++client.last_command);
  message.mutable_command()->mutable_ping()->set_at_once(true);
  EXPECT_THROW((void)session->OnMessage(&client.stream(), message), std::bad_alloc);
  daemon.registry->End(session, MakeError(ErrorKind::kLostSession, "The daemon is ending."));
  EXPECT_EQ(KindOf(client.Ended()), ErrorKind::kLostSession);
}

TEST(NoMemory, AResumeThatCouldNotBeWelcomedLeavesTheSessionWaiting) {
  Daemon daemon;
  Client client(daemon);
  const std::shared_ptr<Session> session = client.machine();
  client.Break();
  const auto stream = std::make_shared<PipeStream>();
  stream->SetNoMemory(true);
  EXPECT_THROW((void)session->answers().Attach(stream, v1::Welcome()), std::bad_alloc);
  EXPECT_TRUE(session->answers().detached_since().has_value()) << "Its lease runs.";
  EXPECT_FALSE(session->answers().LivesOn(stream.get()));
}

TEST(NoMemory, ABarrierThatFailsIsAnsweredAndLetsTheNextOnePass) {
  Daemon daemon;
  Client client(daemon);
  const std::shared_ptr<Session> session = client.machine();
  const uint64_t upload = client.Send(client.StreamUploadOf(1));
  const uint64_t failing = client.Send(client.StreamUploadOf(2));  // Settled only by the barrier.
  session->answers().WhenAllBefore(failing, [] { throw std::runtime_error("out of order"); });
  const uint64_t ping = client.Send(client.PingOf());
  const device::UploadPart part = session->session_device().uploads().Claim(upload).value();
  session->session_device().uploads().AddReceived(upload, part.generation,
                                                  static_cast<int64_t>(part.target.size()));
  EXPECT_TRUE(client.Await(ping).has_pong());
  EXPECT_THAT(client.ErrorOfReply(client.Await(failing)).text, testing::HasSubstr("out of order"));
}

}  // namespace
}  // namespace hlod::session
