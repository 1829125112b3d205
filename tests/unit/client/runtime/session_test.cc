// The session over a pipe in memory: ids, settlement, acknowledgement, replay, loss.
#include "client/runtime/session/session.h"

#include <gtest/gtest.h>

#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/runtime/transfer/arena.h"
#include "client/runtime/transfer/transfer.h"
#include "common/base/errors/error.h"
#include "tests/unit/client/runtime/fake_daemon.h"

namespace hlod::runtime {
namespace {

class SessionMachine : public ::testing::Test {
 protected:
  std::shared_ptr<Session> Open() {
    absl::StatusOr<std::shared_ptr<Session>> session =
        Session::Open(std::make_unique<FakeConnector>(shared_), {.name = "test"});
    EXPECT_TRUE(session.ok()) << session.status();
    return session.ok() ? *session : nullptr;
  }
  static v1::Command Ping() {
    v1::Command command;
    command.mutable_ping();
    return command;
  }

  ~SessionMachine() override { daemon_.End(); }

  const std::shared_ptr<FakeDaemon> shared_ = std::make_shared<FakeDaemon>();
  FakeDaemon& daemon_ = *shared_;
};

TEST_F(SessionMachine, CommandsAreNumberedFromOneWithoutGaps) {
  const std::shared_ptr<Session> session = Open();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(session->Send({}, Ping()).ok());
  const std::vector<v1::Command> commands = daemon_.commands();
  ASSERT_EQ(commands.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(commands[i].id(), i + 1);
}

TEST_F(SessionMachine, ALineIsDefinedOnceAndThenNamed) {
  const std::shared_ptr<Session> session = Open();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(session->Send({"dir/model.cc", 8, "Loss"}, Ping()).ok());
  const std::vector<v1::Command> commands = daemon_.commands();
  ASSERT_EQ(commands.size(), 4u);
  EXPECT_EQ(commands[0].define_origin().origin().file(), "dir/model.cc");
  EXPECT_EQ(commands[0].define_origin().origin().line(), 8);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(commands[i].origin(), commands[0].define_origin().id());
}

TEST_F(SessionMachine, HandlesIncreaseInTheOrderOfTheCommandsThatDefineThem) {
  const std::shared_ptr<Session> session = Open();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(session
                    ->Transact({},
                               [](Session::Sender& sender) {
                                 v1::Command command;
                                 command.mutable_placeholder()->set_handle(sender.NewHandle());
                                 sender.Add(std::move(command));
                               })
                    .ok());
  }
  uint64_t last = 0;
  for (const v1::Command& command : daemon_.commands()) {
    EXPECT_GT(command.placeholder().handle(), last);
    last = command.placeholder().handle();
  }
}

TEST_F(SessionMachine, SendingDoesNotWaitForAnAnswer) {
  daemon_.on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(session->Send({}, Ping()).ok());
  EXPECT_EQ(daemon_.commands().size(), 100u);
}

// The second thread's command is queued behind the first one's write, which ends without an event: a thread
// that waited for one would wait for ever.
TEST_F(SessionMachine, ACommandBehindAWriteThatEndsAtOnceWaitsForNoEvent) {
  const std::shared_ptr<Session> session = Open();
  daemon_.pipe->writes_at_once = true;
  absl::Notification entered, go_on;
  daemon_.on_command = [&](const v1::Command& command, FakePipe&) {
    if (command.id() > 1) return;
    entered.Notify();
    go_on.WaitForNotification();
  };
  std::thread first([&] { EXPECT_TRUE(session->Send({}, Ping()).ok()); });
  entered.WaitForNotification();
  const int polls = daemon_.pipe->polls;
  std::thread second([&] { EXPECT_TRUE(session->Send({}, Ping()).ok()); });
  const absl::Time late = absl::Now() + absl::Milliseconds(100);
  while (daemon_.pipe->polls == polls && absl::Now() < late)
    absl::SleepFor(absl::Milliseconds(1));  // tidy: nothing says that the second one waits.
  go_on.Notify();
  first.join();
  second.join();
  EXPECT_EQ(daemon_.commands().size(), 2u);
}

TEST_F(SessionMachine, WaitGivesTheCommandsOwnError) {
  daemon_.on_command = [](const v1::Command& command, FakePipe& pipe) {
    pipe.Answer(FakeDaemon::Failure(command.id(), "no such opcode"));
  };
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  ASSERT_TRUE(sent.ok());
  const absl::Status status = session->Wait(**sent);
  EXPECT_EQ(KindOf(status), ErrorKind::kInvalidProgram);
  EXPECT_EQ(ErrorOf(status).text, "no such opcode");
  EXPECT_TRUE(session->status().ok()) << "a program's mistake does not end the session";
}

TEST_F(SessionMachine, WaitEndsAtItsDeadline) {
  daemon_.on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  EXPECT_EQ(session->Wait(**sent, absl::Now() + absl::Milliseconds(5)).code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(SessionMachine, TheNextCommandAcknowledgesWhatIsSettled) {
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> first = session->Send({}, Ping());
  ASSERT_TRUE(session->Wait(**first).ok());
  ASSERT_TRUE(session->Send({}, Ping()).ok());
  EXPECT_EQ(daemon_.messages.back().ack_through(), 1u);
}

TEST_F(SessionMachine, AHeldCommandIsNotAcknowledgedUntilReleased) {
  const std::shared_ptr<Session> session = Open();
  Command held;
  ASSERT_TRUE(session
                  ->Transact({},
                             [&](Session::Sender& sender) {
                               held = sender.Add(Ping());
                               sender.HoldAcknowledgement(held->id);
                             })
                  .ok());
  ASSERT_TRUE(session->Wait(*held).ok());
  const absl::StatusOr<Command> second = session->Send({}, Ping());
  ASSERT_TRUE(session->Wait(**second).ok());
  EXPECT_EQ(daemon_.messages.back().ack_through(), 0u);
  session->ReleaseAcknowledgement(held->id);
  EXPECT_EQ(daemon_.messages.back().ack_through(), 2u);
}

TEST_F(SessionMachine, AfterABrokenConnectionOnlyWhatTheDaemonLacksIsSentAgain) {
  daemon_.on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  std::vector<Command> sent;
  for (int i = 0; i < 4; ++i) sent.push_back(*session->Send({}, Ping()));
  daemon_.messages.clear();
  daemon_.received_through = 2;
  daemon_.on_command = FakeDaemon::Settle;
  daemon_.pipe->End(absl::UnavailableError("reset"));
  ASSERT_TRUE(session->Wait(*sent[3]).ok());
  ASSERT_EQ(daemon_.hellos.size(), 2u);
  EXPECT_EQ(daemon_.hellos[1].resume().session(), 3u);
  EXPECT_EQ(daemon_.hellos[1].resume().secret(), "secret");
  const std::vector<v1::Command> again = daemon_.commands();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].id(), 3u);
  EXPECT_EQ(again[1].id(), 4u);
}

TEST_F(SessionMachine, AReplySentAgainChangesNothing) {
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> first = session->Send({}, Ping());
  ASSERT_TRUE(session->Wait(**first).ok());
  daemon_.pipe->Answer(FakeDaemon::Failure((*first)->id, "late"));
  const absl::StatusOr<Command> second = session->Send({}, Ping());
  EXPECT_TRUE(session->Wait(**second).ok());
  EXPECT_TRUE((*first)->status.ok());
}

TEST_F(SessionMachine, AnUnreachableDaemonIsTriedAgain) {
  daemon_.on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  daemon_.accept = [failures = 2]() mutable {
    return failures-- > 0 ? absl::UnavailableError("no route") : absl::OkStatus();
  };
  daemon_.on_command = FakeDaemon::Settle;
  daemon_.pipe->End(absl::UnavailableError("reset"));
  EXPECT_TRUE(session->Wait(**sent).ok());
  EXPECT_EQ(daemon_.connections, 4);
}

TEST_F(SessionMachine, ASocketThatIsGoneLosesTheSessionAtOnce) {
  daemon_.on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  daemon_.accept = [] { return MakeError(ErrorKind::kLostSession, "connection refused"); };
  daemon_.pipe->End(absl::UnavailableError("reset"));
  EXPECT_EQ(KindOf(session->Wait(**sent)), ErrorKind::kLostSession);
  EXPECT_EQ(KindOf(session->Send({}, Ping()).status()), ErrorKind::kLostSession)
      << "and so does every later call";
  EXPECT_EQ(daemon_.connections, 2) << "no other try";
}

TEST_F(SessionMachine, AnotherEpochLosesTheSession) {
  daemon_.on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  daemon_.epoch = 8;
  daemon_.pipe->End(absl::UnavailableError("reset"));
  EXPECT_EQ(KindOf(session->Wait(**sent)), ErrorKind::kLostSession);
}

TEST_F(SessionMachine, AViolationIsReportedAsTheDaemonSaidIt) {
  daemon_.on_command = [](const v1::Command&, FakePipe& pipe) {
    pipe.End(MakeError(ErrorKind::kViolation, "Command id 9 is out of order."));
  };
  const std::shared_ptr<Session> session = Open();
  const absl::StatusOr<Command> sent = session->Send({}, Ping());
  const absl::Status status = session->Wait(**sent);
  EXPECT_EQ(KindOf(status), ErrorKind::kViolation);
  EXPECT_EQ(daemon_.connections, 1) << "there is nothing to resume";
}

TEST_F(SessionMachine, ARefusedHelloIsTheErrorOfOpen) {
  daemon_.accept = [] { return MakeError(ErrorKind::kAuth, "not for you"); };
  const auto session = Session::Open(std::make_unique<FakeConnector>(shared_), {});
  EXPECT_EQ(KindOf(session.status()), ErrorKind::kAuth);
}

TEST_F(SessionMachine, TheLastOwnerSaysGoodbyeWithoutWaiting) {
  daemon_.on_command = [](const v1::Command& command, FakePipe& pipe) {
    if (command.has_goodbye()) pipe.End(absl::OkStatus());
  };
  Open().reset();
  const std::vector<v1::Command> commands = daemon_.commands();
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_TRUE(commands[0].has_goodbye());
}

TEST_F(SessionMachine, CloseWaitsForTheStreamsEndAndLaterCallsFail) {
  daemon_.on_command = [](const v1::Command&, FakePipe& pipe) { pipe.End(absl::OkStatus()); };
  const std::shared_ptr<Session> session = Open();
  EXPECT_TRUE(session->Close(absl::Now() + absl::Seconds(20)).ok());
  EXPECT_FALSE(session->Send({}, Ping()).ok());
}

TEST(Arena, GivesTheLowestFreeRangeAndTakesItBack) {
  absl::StatusOr<rpc::SharedMemory> memory = rpc::SharedMemory::Create(4 * Arena::kGranule);
  ASSERT_TRUE(memory.ok()) << memory.status();
  Arena arena(*std::move(memory));
  const std::optional<ArenaRange> first = arena.TryTake(1);
  const std::optional<ArenaRange> second = arena.TryTake(2 * Arena::kGranule);
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(first->offset, 0);
  EXPECT_EQ(second->offset, Arena::kGranule);
  EXPECT_FALSE(arena.TryTake(2 * Arena::kGranule).has_value());
  arena.Give(*first);
  EXPECT_EQ(arena.TryTake(Arena::kGranule)->offset, 0);
  Command piece = std::make_shared<CommandState>();
  arena.GiveAfter(*second, {piece});
  EXPECT_FALSE(arena.TryTake(2 * Arena::kGranule).has_value()) << "the daemon may still copy out of it";
  piece->done = true;
  EXPECT_EQ(arena.TryTake(2 * Arena::kGranule)->offset, Arena::kGranule);
}

}  // namespace
}  // namespace hlod::runtime
