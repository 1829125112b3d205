// Commands after a long one finish, are reported, and are acknowledged one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/session/pipe.h"

namespace hlod::session {
namespace {

using testing::HasSubstr;

TEST(Settle, WhatFinishesBehindALongCommandIsReportedByItsId) {
  Daemon daemon;
  Client client(daemon);
  client.Send(client.StreamUploadOf(1));  // The upload's bytes never come.
  const uint64_t upload = client.Send(client.UploadOf({1, 2, 3, 4}, 2));
  EXPECT_FALSE(client.Await(upload).has_error());
  EXPECT_TRUE(client.settled.contains(upload));
  EXPECT_EQ(client.settled_through, 0u);
}

TEST(Settle, WhatWasReportedByItsIdIsReportedAgainOnANewStream) {
  Daemon daemon;
  Client client(daemon);
  client.Send(client.StreamUploadOf(1));
  const uint64_t silent = client.Send(client.UploadOf({1, 2, 3, 4}, 2));
  const uint64_t answered = client.Send(client.DownloadOf(2));
  const uint64_t acknowledged = client.Send(client.DownloadOf(2));
  client.Await(silent);
  client.Await(acknowledged);
  client.acknowledge = {acknowledged};
  client.Do(client.PingOf(/*at_once=*/true));
  client.Break();
  client.replies.clear();
  client.Connect(client.ResumeOf());
  EXPECT_TRUE(client.Await(answered).has_download());
  client.Await(silent);
  EXPECT_FALSE(client.Await(acknowledged).has_download()) << "It has been seen.";
  EXPECT_TRUE(client.settled.contains(silent));
  EXPECT_TRUE(client.settled.contains(acknowledged));
}

TEST(Settle, DownloadsBehindALongCommandCanBeAcknowledged) {
  Daemon daemon(Limits{.unacknowledged_bytes_max = 1000});
  Client client(daemon);
  client.Send(client.StreamUploadOf(1));
  const hlo::Shape shape = hlo::Shape::Array(hlo::kF32, {200});
  client.Send(client.UploadOf(std::vector<float>(200, 1), 2, shape));
  for (const bool stream : {false, true}) {
    for (int i = 0; i < 5; ++i) {
      v1::Command download = client.DownloadOf(2);
      if (stream) download.mutable_download()->set_stream(true);
      const v1::Reply reply = client.Do(download);
      EXPECT_FALSE(reply.has_error()) << reply.error().text();
      client.acknowledge = {client.last_command};
    }
  }
}

TEST(Settle, WhatIsNotSettledCannotBeAcknowledged) {
  for (const uint64_t command : {uint64_t{0}, uint64_t{1}, uint64_t{9}}) {
    Daemon daemon;
    Client client(daemon);
    client.Send(client.StreamUploadOf(1));
    client.acknowledge = {command};
    client.Send(client.PingOf());
    EXPECT_EQ(KindOf(client.Ended()), ErrorKind::kViolation) << command;
  }
}

TEST(Settle, FinishedCommandsBehindALongOneDoNotFillTheWindow) {
  Daemon daemon(Limits{.commands_in_flight_max = 8});
  Client client(daemon);
  client.Send(client.StreamUploadOf(1));
  for (uint64_t handle = 2; handle < 100; ++handle) {
    EXPECT_FALSE(client.Do(client.PlaceholderOf(handle)).has_error()) << handle;
  }
  while (client.last_command < 16 * 8) client.Send(client.PingOf(/*at_once=*/true));
  EXPECT_THAT(client.Fails(client.PingOf(/*at_once=*/true)).text, HasSubstr("commands_in_flight_max"));
}

// A stream that cannot send messages because memory has run out.
class FullStream : public SessionStream {
 public:
  bool Write(const v1::ServerMessage&) override { throw std::bad_alloc(); }
  void Finish(const absl::Status& status) override { end = status; }
  absl::Status end;
};

TEST(Settle, ASessionThatCouldNotBeOpenedKeepsNoPlace) {
  Daemon daemon;
  Connection connection(*daemon.registry, Peer{.local = true});
  const auto stream = std::make_shared<FullStream>();
  v1::ClientMessage hello;
  hello.mutable_hello()->set_version_min(1);
  hello.mutable_hello()->set_version_max(1);
  connection.OnMessage(stream, hello);
  EXPECT_FALSE(stream->end.ok());
  EXPECT_EQ(daemon.registry->size(), 0u);
}

TEST(Settle, AProcessThatEndedBeforeItsHelloHasNoSession) {
  Daemon daemon;
  daemon.processes.ended = {77};
  Client client(daemon, 77);
  EXPECT_EQ(KindOf(client.Ended()), ErrorKind::kLostSession);
  EXPECT_EQ(daemon.registry->size(), 0u);
}

}  // namespace
}  // namespace hlod::session
