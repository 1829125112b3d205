// Connections that stall or break repeatedly: waits end at their deadlines, attempts are spaced, and a
// message that the transport refuses is not sent for ever.
#include <gtest/gtest.h>

#include <atomic>

#include "absl/time/clock.h"
#include "client/runtime/session/heart.h"
#include "client/runtime/session/session.h"
#include "common/base/errors/error.h"
#include "tests/unit/client/runtime/fake_daemon.h"

namespace hlod::runtime {
namespace {

class Recovery : public ::testing::Test {
 protected:
  ~Recovery() override { daemon_->End(); }
  std::shared_ptr<Session> Open() {
    return Session::Open(std::make_unique<FakeConnector>(daemon_), {.name = "test"}).value();
  }
  static v1::Command Ping() {
    v1::Command command;
    command.mutable_ping();
    return command;
  }
  // Three streams end so before a command completes on the fourth.
  void ExpectResumedAfter(const absl::Status& end) {
    daemon_->on_command = [this, end](const v1::Command& command, FakePipe& pipe) {
      if (daemon_->connections < 4) return pipe.End(end);
      FakeDaemon::Settle(command, pipe);
    };
    const std::shared_ptr<Session> session = Open();
    const absl::StatusOr<Command> sent = session->Send({}, Ping());
    ASSERT_TRUE(sent.ok());
    EXPECT_TRUE(session->Wait(**sent).ok());
    EXPECT_EQ(daemon_->connections, 4);
    ASSERT_EQ(daemon_->hellos.size(), 4u);
    EXPECT_TRUE(daemon_->hellos[3].has_resume());
  }

  const std::shared_ptr<FakeDaemon> daemon_ = std::make_shared<FakeDaemon>();
};

TEST_F(Recovery, AWaitEndsAtItsDeadlineThoughOthersHaveSentToAStalledDaemon) {
  const std::shared_ptr<Session> session = Open();
  daemon_->pipe->stalled = true;
  Command last;
  for (int i = 0; i < 3; ++i) {  // The first is being written, and the others are queued.
    ASSERT_TRUE(session
                    ->Transact(
                        {}, [&](Session::Sender& sender) { last = sender.Add(Ping()); }, /*may_wait=*/false)
                    .ok());
  }
  EXPECT_EQ(session->Wait(*last, absl::Now() + absl::Milliseconds(20)).code(),
            absl::StatusCode::kDeadlineExceeded);
}

// A message may be 14 MiB larger than a chunk.
TEST_F(Recovery, AMessageLargerThanTheDaemonTakesIsNotSentAndLosesTheSession) {
  daemon_->limits["chunk_bytes_max"] = 1 << 20;
  const std::shared_ptr<Session> session = Open();
  v1::Command command;
  command.mutable_compile()->set_module(std::string(15 << 20, 'x'));
  const absl::Status status = session->Send({}, std::move(command)).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kLostSession) << status;
  EXPECT_NE(status.message().find("the daemon takes messages of 15728640"), std::string::npos) << status;
  EXPECT_EQ(daemon_->connections, 1);
  for (const v1::ClientMessage& message : daemon_->messages) EXPECT_LT(message.ByteSizeLong(), 1000u);
}

// The errors of gRPC when memory is short (RST_STREAM with ENHANCE_YOUR_CALM) or a message is corrupted.
TEST_F(Recovery, AStreamThatIsResetIsResumed) {
  ExpectResumedAfter(absl::ResourceExhaustedError("Received RST_STREAM with error code 11"));
}

// The daemon's replies follow its Welcome, and the transport may report later that the Hello was written.
TEST_F(Recovery, MessagesMayComeBeforeTheReportThatTheHelloWasWritten) {
  daemon_->reports_late = true;
  ExpectResumedAfter(absl::UnavailableError("cut"));
}

TEST_F(Recovery, ACorruptedStreamIsResumed) {
  ExpectResumedAfter(absl::DataLossError("A message does not have its checksum."));
}

TEST_F(Recovery, AStreamThatIsResetForEverIsLost) {
  daemon_->on_command = [](const v1::Command&, FakePipe& pipe) {
    pipe.End(absl::ResourceExhaustedError("Received RST_STREAM with error code 11"));
  };
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  ASSERT_TRUE(sent.ok());
  const absl::Status status = session->Wait(**sent);
  EXPECT_EQ(KindOf(status), ErrorKind::kLostSession) << status;
  EXPECT_EQ(daemon_->connections, 17);
}

// A tunnel whose near end acknowledges data that its far end does not deliver.
TEST_F(Recovery, ADaemonThatFallsSilentDuringAWaitWithoutADeadlineIsConnectedToAgain) {
  daemon_->may_stall = true;
  daemon_->on_command = [this](const v1::Command& command, FakePipe& pipe) {
    if (daemon_->connections == 2) FakeDaemon::Settle(command, pipe);
  };
  const std::shared_ptr<Session> session =
      Session::Open(std::make_unique<FakeConnector>(daemon_),
                    {.name = "test", .question = absl::Milliseconds(20), .silence = absl::Milliseconds(40)})
          .value();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  ASSERT_TRUE(sent.ok());
  EXPECT_TRUE(session->Wait(**sent).ok());
  EXPECT_EQ(daemon_->connections, 2);
}

// Waits for what other threads do, for at most 20 seconds.
template <typename Condition>
bool Eventually(const Condition& condition) {
  for (int i = 0; i < 10'000 && !condition(); ++i)
    absl::SleepFor(absl::Milliseconds(2));  // tidy: nobody tells a test that another thread has ended.
  return condition();
}

TEST_F(Recovery, SessionsThatNobodyWaitsOnLookAtTheirConnectionsOnOneThread) {
  daemon_->may_stall = true;
  const auto resumed = std::make_shared<std::atomic<int>>(0);
  std::vector<std::shared_ptr<Session>> sessions;
  for (int i = 0; i < 5; ++i) {
    sessions.push_back(Session::Open(std::make_unique<FakeConnector>(daemon_),
                                     {.name = "test", .beat = absl::Milliseconds(1)})
                           .value());
    EXPECT_EQ(BeatingThreads(), 1);
  }
  daemon_->accept = [resumed] {
    ++*resumed;
    return absl::OkStatus();
  };
  // The end of the last pipe, which the session's next heartbeat notices.
  daemon_->pipe->End(absl::UnavailableError("reset"));
  EXPECT_TRUE(Eventually([&] { return *resumed == 1; }));
  sessions.clear();
  EXPECT_TRUE(Eventually([] { return BeatingThreads() == 0; }));
  sessions.push_back(Open());
  EXPECT_EQ(BeatingThreads(), 1);
}

TEST_F(Recovery, ADaemonThatIsBusyAndAnswersIsWaitedFor) {
  daemon_->may_stall = true;
  const auto questions = std::make_shared<int>(0);
  daemon_->on_command = [questions](const v1::Command& command, FakePipe& pipe) {
    if (!command.ping().at_once()) return;
    v1::ServerMessage answer;
    answer.add_replies()->set_command(command.id());
    answer.mutable_replies(0)->mutable_pong();
    if (++*questions == 5) answer.set_settled_through(command.id());
    pipe.Answer(std::move(answer));
  };
  const std::shared_ptr<Session> session =
      Session::Open(std::make_unique<FakeConnector>(daemon_),
                    {.name = "test", .question = absl::Milliseconds(5), .silence = absl::Minutes(10)})
          .value();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  ASSERT_TRUE(sent.ok());
  EXPECT_TRUE(session->Wait(**sent).ok());
  EXPECT_EQ(*questions, 5);
  EXPECT_EQ(daemon_->connections, 1);
}

TEST_F(Recovery, ConnectionsThatBreakBeforeAnyCommandCompletesAreSpaced) {
  daemon_->on_command = [](const v1::Command&, FakePipe& pipe) { pipe.End(absl::UnavailableError("reset")); };
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  ASSERT_TRUE(sent.ok());
  const absl::Time start = absl::Now();
  EXPECT_FALSE(session->Wait(**sent, start + absl::Milliseconds(300)).ok());
  // Attempts are at 0, 20, 40, 80 and 160 ms, then at most two per second.
  EXPECT_LE(daemon_->connections, 8 + 3 * absl::ToInt64Seconds(absl::Now() - start));
}

TEST_F(Recovery, AHandshakeThatFailsOnceIsTriedAgain) {
  daemon_->on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  daemon_->accept = [failures = 1]() mutable {
    return failures-- > 0 ? MakeError(ErrorKind::kAuth, "No TLS connection") : absl::OkStatus();
  };
  daemon_->on_command = FakeDaemon::Settle;
  daemon_->pipe->End(absl::UnavailableError("reset"));
  EXPECT_TRUE(session->Wait(**sent).ok());
  EXPECT_EQ(daemon_->connections, 3);
}

}  // namespace
}  // namespace hlod::runtime
