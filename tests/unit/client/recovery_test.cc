// Connections that stall or break again and again: waits end at their deadlines, attempts are spaced, and a
// message that the transport refuses is not sent for ever.
#include <gtest/gtest.h>

#include "absl/time/clock.h"
#include "client/runtime/session.h"
#include "common/base/error.h"
#include "tests/unit/client/fake_daemon.h"

namespace hlod::internal {
namespace {

class Recovery : public ::testing::Test {
 protected:
  ~Recovery() override {
    daemon_->over = true;   // The session may connect once more.
    daemon_->pipe.reset();  // It shares the daemon.
  }
  std::shared_ptr<Session> Open() {
    return Session::Open(std::make_unique<FakeConnector>(daemon_), {.name = "test"}).value();
  }
  static v1::Command Ping() {
    v1::Command command;
    command.mutable_ping();
    return command;
  }
  const std::shared_ptr<FakeDaemon> daemon_ = std::make_shared<FakeDaemon>();
};

TEST_F(Recovery, AWaitEndsAtItsDeadlineThoughOthersHaveSentToAStalledDaemon) {
  const std::shared_ptr<Session> session = Open();
  daemon_->pipe->stalled = true;
  Command last;
  for (int i = 0; i < 3; ++i) {  // The first is being written, the others queue.
    ASSERT_TRUE(
        session->Transact(
                   {}, [&](Session::Sender& sender) { last = sender.Add(Ping()); }, /*may_wait=*/false)
            .ok());
  }
  EXPECT_EQ(session->Wait(*last, absl::Now() + absl::Milliseconds(20)).code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(Recovery, AMessageThatTheTransportRefusesLosesTheSession) {
  daemon_->on_command = [](const v1::Command&, FakePipe& pipe) {
    pipe.End(absl::ResourceExhaustedError("Received message larger than max (17 vs. 16)"));
  };
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  ASSERT_TRUE(sent.ok());
  const absl::Status status = session->Wait(**sent);
  EXPECT_EQ(KindOf(status), ErrorKind::kLostSession) << status;
  EXPECT_NE(status.message().find("17 vs. 16"), std::string::npos) << status;
  EXPECT_EQ(daemon_->connections, 1) << "it would be refused again";
}

TEST_F(Recovery, ConnectionsThatBreakBeforeAnyCommandCompletesAreSpaced) {
  daemon_->on_command = [](const v1::Command&, FakePipe& pipe) { pipe.End(absl::UnavailableError("reset")); };
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  ASSERT_TRUE(sent.ok());
  const absl::Time start = absl::Now();
  EXPECT_FALSE(session->Wait(**sent, start + absl::Milliseconds(300)).ok());
  // 0, 20, 40, 80, 160 ms, then at most two a second.
  EXPECT_LE(daemon_->connections, 8 + 3 * absl::ToInt64Seconds(absl::Now() - start));
}

TEST_F(Recovery, AHandshakeThatFailsOnceIsTriedAgain) {
  daemon_->on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  int failures = 1;
  daemon_->accept = [&] {
    return failures-- > 0 ? MakeError(ErrorKind::kAuth, "No TLS connection") : absl::OkStatus();
  };
  daemon_->on_command = FakeDaemon::Settle;
  daemon_->pipe->End(absl::UnavailableError("reset"));
  EXPECT_TRUE(session->Wait(**sent).ok());
  EXPECT_EQ(daemon_->connections, 3);
}

}  // namespace
}  // namespace hlod::internal
