// Callbacks at the ends of commands: on the caller's thread where it can wait for a moment, else on another.
#include "client/runtime/session/completions.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/synchronization/notification.h"
#include "tests/unit/client/runtime/fake_daemon.h"

namespace hlod::runtime {
namespace {

class CompletionCallbacks : public ::testing::Test {
 protected:
  ~CompletionCallbacks() override { daemon_->End(); }
  std::shared_ptr<Session> Open() {
    return Session::Open(std::make_unique<FakeConnector>(daemon_), {.name = "test"}).value();
  }
  static Command SendPing(Session& session) {
    v1::Command command;
    command.mutable_ping();
    return session.Send({}, std::move(command)).value();
  }
  const std::shared_ptr<FakeDaemon> daemon_ = std::make_shared<FakeDaemon>();
};

TEST_F(CompletionCallbacks, AnAwaitedCallbackWhoseAnswerIsThereRunsOnTheCallersThread) {
  const std::shared_ptr<Session> session = Open();
  Completions completions(session);
  const Command ping = SendPing(*session);
  ASSERT_FALSE(ping->done);
  std::thread::id thread;
  completions.WhenDone(ping, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    thread = std::this_thread::get_id();
  });
  EXPECT_EQ(thread, std::this_thread::get_id());
  EXPECT_EQ(completions.waits(), 0);
}

TEST_F(CompletionCallbacks, ACommandWhoseEndIsAwaitedIsOneMessage) {
  const std::shared_ptr<Session> session = Open();
  Completions completions(session);
  const auto mark_step = [&] {
    v1::Command command;
    command.mutable_step_mark()->set_step(1);
    completions.WhenDone(session->Send({}, std::move(command)).value(), [](const absl::Status&) {});
    return daemon_->messages.size();
  };
  const size_t first = mark_step();  // Includes the request to report progress from here on.
  EXPECT_EQ(mark_step(), first + 1);
  EXPECT_EQ(mark_step(), first + 2);
  EXPECT_EQ(completions.waits(), 0);
}

TEST_F(CompletionCallbacks, OtherCallbacksThatCameToTheirEndRunWithAnAwaitedOne) {
  const std::shared_ptr<Session> session = Open();
  Completions completions(session);
  std::atomic<int> called = 0;
  for (int i = 0; i < 10; ++i)
    completions.WhenDone(
        SendPing(*session), [&](const absl::Status&) { ++called; }, Completions::Urgency::kLater);
  completions.WhenDone(SendPing(*session), [&](const absl::Status&) { ++called; });
  EXPECT_EQ(called, 11);
}

TEST_F(CompletionCallbacks, OneThatNobodyAwaitsRunsWithoutAnyFurtherCall) {
  const std::shared_ptr<Session> session = Open();
  Completions completions(session);
  absl::Notification called;
  completions.WhenDone(
      SendPing(*session),
      [&](const absl::Status& status) {
        EXPECT_TRUE(status.ok());
        called.Notify();
      },
      Completions::Urgency::kLater);
  called.WaitForNotification();
}

TEST_F(CompletionCallbacks, AnAwaitedOneWithoutAnAnswerRunsOnAnotherThread) {
  std::atomic<uint64_t> last = 0;
  daemon_->on_command = [&](const v1::Command& command, FakePipe&) { last = command.id(); };
  const std::shared_ptr<Session> session = Open();
  Completions completions(session);
  const Command ping = SendPing(*session);
  absl::Notification called;
  std::thread::id thread;
  completions.WhenDone(ping, [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok());
    thread = std::this_thread::get_id();
    called.Notify();
  });
  EXPECT_FALSE(called.HasBeenNotified());
  v1::ServerMessage message;
  message.set_settled_through(last);
  daemon_->pipe->Answer(std::move(message));
  called.WaitForNotification();
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST_F(CompletionCallbacks, ALostSessionEndsAllOfThem) {
  daemon_->on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  Completions completions(session);
  absl::Notification awaited, later;
  completions.WhenDone(
      SendPing(*session),
      [&](const absl::Status& status) {
        EXPECT_FALSE(status.ok());
        later.Notify();
      },
      Completions::Urgency::kLater);
  completions.WhenDone(SendPing(*session), [&](const absl::Status& status) {
    EXPECT_FALSE(status.ok());
    awaited.Notify();
  });
  daemon_->pipe->End(MakeError(ErrorKind::kLostSession, "The daemon ended."));
  awaited.WaitForNotification();
  later.WaitForNotification();
}

TEST(Patience, FailuresLeaveOutTwiceAsManyOccasionsEach) {
  Patience patience;
  const auto left_out = [&] {
    int count = 0;
    while (!patience.Try()) ++count;
    return count;
  };
  for (const int expected : {0, 1, 3, 7, 15, 31, 63, 127, 255, 255}) {
    EXPECT_EQ(left_out(), expected);
    patience.Ended(false);
  }
  EXPECT_EQ(left_out(), 255);
  patience.Ended(true);
  EXPECT_EQ(left_out(), 0);
  patience.Ended(false);  // Half of 255, doubled again.
  EXPECT_EQ(left_out(), 255);
}

}  // namespace
}  // namespace hlod::runtime
