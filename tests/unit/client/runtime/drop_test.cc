// Buffers without references: dropped, donated, or half uploaded.
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/runtime/session/session.h"
#include "client/runtime/session/state.h"
#include "common/base/errors/error.h"
#include "tests/unit/client/runtime/fake_daemon.h"

namespace hlod::runtime {
namespace {

class Drops : public ::testing::Test {
 protected:
  ~Drops() override { shared_->End(); }
  std::shared_ptr<Session> Open() {
    return Session::Open(std::make_unique<FakeConnector>(shared_), {.name = "test"}).value();
  }
  static Command Send(Session& session) {
    v1::Command command;
    command.mutable_ping();
    return session.Send({}, std::move(command)).value();
  }
  // Returns a buffer so large that it is freed at once.
  static std::unique_ptr<BufferState> MakeBuffer(const std::shared_ptr<Session>& session, uint64_t handle) {
    return std::make_unique<BufferState>(session, handle, Shape::Array(hlo::kU8, {Session::kDroppedBytesMax}),
                                         0, std::make_shared<CommandState>(), false);
  }
  // Returns the freed handles, in order.
  std::vector<uint64_t> Freed() const {
    std::vector<uint64_t> handles;
    for (const v1::Command& command : shared_->commands()) {
      handles.insert(handles.end(), command.free().handles().begin(), command.free().handles().end());
    }
    return handles;
  }
  const std::shared_ptr<FakeDaemon> shared_ = std::make_shared<FakeDaemon>();
};

TEST_F(Drops, ALargeDroppedBufferIsFreedAtOnce) {
  const std::shared_ptr<Session> session = Open();
  MakeBuffer(session, 5).reset();
  EXPECT_EQ(Freed(), std::vector<uint64_t>{5});
}

TEST_F(Drops, BuffersDroppedBehindALongCommandAreFreedTogetherOnceThereIsRoom) {
  shared_->limits["commands_in_flight_max"] = 16;
  shared_->on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  const Command last = Send(*session);
  for (uint64_t handle = 1; handle <= 1000; ++handle) MakeBuffer(session, handle).reset();
  EXPECT_LE(shared_->commands().size(), 8u) << "more would be refused as too many";
  shared_->on_command = FakeDaemon::Settle;
  FakeDaemon::Settle(shared_->commands().back(), *shared_->pipe);
  session->Drain();
  EXPECT_LE(shared_->commands().size(), 10u);
  const std::vector<uint64_t> freed = Freed();
  EXPECT_EQ(freed.size(), 1000u);
  EXPECT_EQ(std::set<uint64_t>(freed.begin(), freed.end()).size(), 1000u);
}

TEST_F(Drops, ADonatedBufferIsFreedWhenItsExecuteFailed) {
  shared_->on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  const Command runs = Send(*session), fails = Send(*session), failed = Send(*session);
  const auto drop = [&](uint64_t handle, const Command& by) {
    const std::unique_ptr<BufferState> buffer = MakeBuffer(session, handle);
    absl::MutexLock lock(&buffer->mu);
    buffer->death = Death{ErrorKind::kDonated, by};
  };
  drop(11, runs);
  drop(12, fails);
  EXPECT_TRUE(Freed().empty()) << "not known yet";
  v1::ServerMessage answers = FakeDaemon::Failure(fails->id, "no memory");
  *answers.add_replies() = FakeDaemon::Failure(failed->id, "no memory").replies(0);
  answers.set_settled_through(failed->id);
  shared_->pipe->Answer(std::move(answers));
  session->Drain();
  EXPECT_EQ(Freed(), std::vector<uint64_t>{12});
  drop(13, failed);
  drop(14, runs);
  EXPECT_EQ(Freed(), (std::vector<uint64_t>{12, 13}));
}

TEST_F(Drops, ADeletedBufferIsNotFreedAgain) {
  const std::shared_ptr<Session> session = Open();
  const Command deletes = Send(*session);
  std::unique_ptr<BufferState> buffer = MakeBuffer(session, 5);
  {
    absl::MutexLock lock(&buffer->mu);
    buffer->death = Death{ErrorKind::kDeleted, deletes};
  }
  buffer.reset();
  EXPECT_TRUE(Freed().empty());
}

TEST_F(Drops, ACancelIsSentAgainAfterABrokenConnection) {
  shared_->on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  const Command done = Send(*session), runs = Send(*session);
  FakeDaemon::Settle(shared_->commands()[0], *shared_->pipe);
  ASSERT_TRUE(session->Wait(*done).ok());
  session->Cancel(done->id);
  session->Cancel(runs->id);
  shared_->messages.clear();
  shared_->received_through = runs->id;
  shared_->pipe->End(absl::UnavailableError("reset"));
  while (shared_->messages.empty())
    EXPECT_FALSE(session->Wait(*runs, absl::Now() + absl::Milliseconds(100)).ok());
  ASSERT_EQ(shared_->messages.size(), 1u);
  EXPECT_EQ(shared_->messages[0].cancel().command(), runs->id);
}

TEST_F(Drops, ACallThatDoesNotWaitDoesNotWaitForABrokenConnection) {
  shared_->on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  const Command sent = Send(*session);
  std::unique_ptr<BufferState> buffer = MakeBuffer(session, 5);
  const auto reachable = std::make_shared<absl::Notification>();
  const int before = shared_->connections;
  shared_->accept = [reachable] {
    reachable->WaitForNotification();  // Must not be reached while a call waits for the network.
    return absl::OkStatus();
  };
  shared_->on_command = FakeDaemon::Settle;
  shared_->pipe->End(absl::UnavailableError("reset"));
  session->Drain();
  buffer.reset();
  EXPECT_EQ(session->Wait(*sent, absl::Now() + absl::Milliseconds(50)).code(),
            absl::StatusCode::kDeadlineExceeded);
  reachable->Notify();
  EXPECT_TRUE(session->Wait(*sent).ok());
  EXPECT_EQ(shared_->connections, before + 1);
  EXPECT_TRUE(session->Wait(*Send(*session)).ok());
  EXPECT_EQ(Freed(), std::vector<uint64_t>{5}) << "what was dropped meanwhile is freed";
}

}  // namespace
}  // namespace hlod::runtime
