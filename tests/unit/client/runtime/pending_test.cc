// Transfers that are polled instead of awaited, awaited in short intervals, or abandoned half way.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <thread>

#include "absl/time/clock.h"
#include "client/runtime/session/state.h"
#include "client/runtime/transfer/arena.h"
#include "client/runtime/transfer/transfer.h"
#include "common/base/errors/error.h"
#include "tests/unit/client/runtime/fake_daemon.h"

namespace hlod::runtime {
namespace {

class PendingCommands : public ::testing::Test {
 protected:
  ~PendingCommands() override {
    if (giver_.joinable()) giver_.join();
    shared_->End();
  }
  // Opens a session whose daemon offers an arena.
  std::shared_ptr<Session> Open(int64_t arena_bytes) {
    memory_ = rpc::SharedMemory::Create(arena_bytes).value();
    const std::string name = "hlod-pending-test-" + std::to_string(getpid());
    listening_ = rpc::ListenAbstract(name).value();
    shared_->arena.set_socket(name);
    shared_->arena.set_bytes(static_cast<uint64_t>(arena_bytes));
    giver_ = std::thread([this] {
      const rpc::Descriptor client(accept(listening_.get(), nullptr, nullptr));
      char secret[6];
      if (recv(client.get(), secret, sizeof(secret), MSG_WAITALL) != sizeof(secret)) return;
      rpc::SendDescriptor(client.get(), memory_.fd()).IgnoreError();
    });
    std::shared_ptr<Session> session = Open();
    EXPECT_NE(session->arena(), nullptr);
    return session;
  }
  std::shared_ptr<Session> Open() {
    return Session::Open(std::make_unique<FakeConnector>(shared_), {.name = "test"}).value();
  }
  // Answers a Download as a daemon does. In the arena, byte i of the buffer is i mod 251.
  void Deliver(const v1::Command& command) {
    v1::ServerMessage message;
    v1::Reply& reply = *message.add_replies();
    reply.set_command(command.id());
    v1::DownloadResult& result = *reply.mutable_download();
    if (command.download().inline_()) result.set_inline_("abcd");
    if (command.download().stream()) result.set_stream(true);
    if (command.download().has_arena()) {
      result.set_arena(true);
      std::byte* const to = memory_.bytes().data() + command.download().arena().offset();
      for (uint64_t i = 0; i < command.download().length(); ++i) {
        to[i] = static_cast<std::byte>((command.download().offset() + i) % 251);
      }
    }
    shared_->pipe->Answer(std::move(message));
  }
  const std::shared_ptr<FakeDaemon> shared_ = std::make_shared<FakeDaemon>();
  rpc::SharedMemory memory_;
  rpc::Descriptor listening_;
  std::thread giver_;
};

TEST_F(PendingCommands, ADownloadBecomesReadyByLookingAtIt) {
  shared_->on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  std::vector<std::byte> out(4);
  for (Transfer* const way : {&InlineTransfer(), &StreamTransfer()}) {
    const std::unique_ptr<PendingDownload> pending =
        way->Download(session, 1, Cause::kDownload, absl::MakeSpan(out), {});
    EXPECT_FALSE(pending->Ready());
    Deliver(shared_->commands().back());
    EXPECT_TRUE(pending->Ready());
  }
}

TEST_F(PendingCommands, ADownloadOfManyPiecesBecomesReadyByLookingAtIt) {
  const std::shared_ptr<Session> session = Open(8 << 20);
  shared_->on_command = [this](const v1::Command& command, FakePipe&) { Deliver(command); };
  std::vector<std::byte> out(20 << 20);
  const std::unique_ptr<PendingDownload> pending =
      ArenaTransfer().Download(session, 1, Cause::kDownload, absl::MakeSpan(out), {});
  bool ready = false;
  for (int i = 0; i < 100 && !ready; ++i) ready = pending->Ready();
  ASSERT_TRUE(ready);
  EXPECT_TRUE(pending->Await(absl::InfinitePast()).ok());
  size_t wrong = 0;
  for (size_t i = 0; i < out.size(); ++i) wrong += out[i] != static_cast<std::byte>(i % 251);
  EXPECT_EQ(wrong, 0u);
}

TEST_F(PendingCommands, LookingDoesNotWaitForSomebodyWhoAwaits) {
  shared_->on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  const Buffer buffer(std::make_shared<BufferState>(session, 1, Shape::Scalar(hlo::kF32), 0,
                                                    std::make_shared<CommandState>(), false));
  const Future<Literal> future = buffer.ToLiteralAsync();
  std::atomic<bool> awaiting = false;
  std::future<bool> awaited = std::async(std::launch::async, [&] {
    awaiting = true;
    return future.Await().ok();
  });
  while (!awaiting) absl::SleepFor(absl::Milliseconds(1));  // tidy: the other thread's turn.
  absl::SleepFor(absl::Milliseconds(20));                   // tidy: nothing tells that it waits.
  std::future<bool> looked = std::async(std::launch::async, [&] { return future.Ready(); });
  EXPECT_EQ(looked.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  Deliver(shared_->commands().back());
  EXPECT_TRUE(awaited.get());
}

TEST_F(PendingCommands, ADownloadThatComesAsItsDeadlinePassesIsStillRead) {
  const std::shared_ptr<Session> session = Open(1 << 20);
  std::atomic<uint64_t> asked = 0;
  v1::Command latest;
  shared_->on_command = [&](const v1::Command& command, FakePipe&) {
    if (!command.has_download()) return;
    latest = command;
    asked = command.id();
  };
  // One thread processes events, events arrive at any time on another, and this thread waits only briefly.
  v1::Command ping;
  ping.mutable_ping();
  const Command last = session->Send({}, std::move(ping)).value();
  std::thread poller([&] { session->Wait(*last).IgnoreError(); });
  std::atomic<bool> stop = false;
  std::thread deliverer([&] {
    for (uint64_t delivered = 0; !stop;) {
      const uint64_t id = asked;
      if (id == delivered) continue;
      const absl::Time at = absl::Now() + absl::Nanoseconds(id * 37 % 2000);
      while (absl::Now() < at) {
      }
      Deliver(latest);
      delivered = id;
    }
  });
  int lost = 0;
  std::vector<std::byte> out(64);
  const absl::Time enough = absl::Now() + absl::Seconds(2);
  while (lost == 0 && absl::Now() < enough) {
    const std::unique_ptr<PendingDownload> pending =
        ArenaTransfer().Download(session, 1, Cause::kDownload, absl::MakeSpan(out), {});
    const absl::Time give_up = absl::Now() + absl::Milliseconds(50);
    while (absl::IsDeadlineExceeded(pending->Await(absl::InfinitePast())) && absl::Now() < give_up) {
    }
    lost += !pending->Await(absl::InfiniteFuture()).ok();
  }
  stop = true;
  deliverer.join();
  v1::ServerMessage end;
  end.add_settled(last->id);
  shared_->pipe->Answer(std::move(end));
  poller.join();
  EXPECT_EQ(lost, 0);
}

TEST_F(PendingCommands, AnUploadGivenUpHalfWayIsCancelledAndFreed) {
  shared_->limits["chunk_bytes_max"] = Arena::kGranule;
  const std::shared_ptr<Session> session = Open(Arena::kGranule);
  constexpr uint64_t kSignal = 99;
  shared_->on_command = [&](const v1::Command& command, FakePipe& pipe) {
    if (command.has_upload_piece()) {
      // The piece ends with an error. Then the session frees the buffer that was donated.
      const Command donor = std::make_shared<CommandState>();
      donor->id = command.id();
      session->Drop(kSignal, Session::kDroppedBytesMax, donor);
      v1::ServerMessage message;
      *message.add_replies() = FakeDaemon::Failure(command.id(), "no").replies(0);
      pipe.Answer(std::move(message));
    }
    // Another thread has now staged an upload in the piece's range.
    if (command.has_free() && command.free().handles(0) == kSignal) {
      EXPECT_TRUE(session->arena()->TryTake(1).has_value());
    }
  };
  const std::vector<std::byte> bytes(4 * Arena::kGranule);
  UploadRequest request;
  EXPECT_EQ(KindOf(ArenaTransfer().Upload(*session, request, bytes, {}).status()), ErrorKind::kLimit);
  uint64_t upload = 0, cancelled = 0, freed = 0;
  for (const v1::ClientMessage& message : shared_->messages) {
    if (message.command().has_upload()) upload = message.command().id();
    if (message.has_cancel()) cancelled = message.cancel().command();
    if (message.command().has_free()) freed = message.command().free().handles(0);
  }
  EXPECT_NE(upload, 0u);
  EXPECT_EQ(cancelled, upload);
  EXPECT_EQ(freed, request.handle);
}

TEST(ArenaRanges, ComeBackInWhateverOrderTheirCommandsEnd) {
  Arena arena(rpc::SharedMemory::Create(2 * Arena::kGranule).value());
  const ArenaRange first = *arena.TryTake(1), second = *arena.TryTake(1);
  const Command slow = std::make_shared<CommandState>(), quick = std::make_shared<CommandState>();
  arena.GiveAfter(first, {slow});
  arena.GiveAfter(second, {quick});
  EXPECT_FALSE(arena.TryTake(1).has_value());
  quick->done = true;
  EXPECT_EQ(arena.TryTake(1)->offset, second.offset);
}

// The daemon copies small pieces while it reads and large ones on a queue: the last may be answered first.
TEST_F(PendingCommands, AStagedRangeComesBackWhenEveryPieceIsDone) {
  shared_->limits["chunk_bytes_max"] = 2 * Arena::kGranule;
  const std::shared_ptr<Session> session = Open(5 * Arena::kGranule);
  Arena& arena = *session->arena();
  std::vector<uint64_t> pieces;
  shared_->on_command = [&](const v1::Command& command, FakePipe&) {
    if (command.has_upload_piece()) pieces.push_back(command.id());
  };
  const auto answer = [&](uint64_t command) {
    v1::ServerMessage message;
    message.add_replies()->set_command(command);
    shared_->pipe->Answer(std::move(message));
    session->Drain();
  };
  UploadRequest request;
  const ArenaRange range = *arena.TryTake(4 * Arena::kGranule + (64 << 10));
  ASSERT_TRUE(SendStaged(*session, request, range, {}).ok());
  ASSERT_EQ(pieces.size(), 3u);
  answer(pieces[2]);
  EXPECT_FALSE(arena.TryTake(1).has_value()) << "the daemon still reads the first two pieces";
  answer(pieces[0]);
  EXPECT_FALSE(arena.TryTake(1).has_value());
  std::future<bool> taken =
      std::async(std::launch::async, [&] { return arena.Take(*session, 1).value().has_value(); });
  answer(pieces[1]);
  EXPECT_TRUE(taken.get());
}

TEST_F(PendingCommands, TakingARangeWaitsForWhicheverComesBackFirst) {
  shared_->on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open();
  Arena arena(rpc::SharedMemory::Create(2 * Arena::kGranule).value());
  for (int i = 0; i < 2; ++i) {
    v1::Command ping;
    ping.mutable_ping();
    arena.GiveAfter(*arena.TryTake(1), {session->Send({}, std::move(ping)).value()});
  }
  v1::ServerMessage second;
  second.add_replies()->set_command(2);
  shared_->pipe->Answer(std::move(second));
  std::future<bool> taken =
      std::async(std::launch::async, [&] { return arena.Take(*session, 1).value().has_value(); });
  EXPECT_EQ(taken.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  FakeDaemon::Settle(shared_->commands().back(), *shared_->pipe);  // Settles the command in any case.
  EXPECT_TRUE(taken.get());
}

// After the first piece is read, the window has no room for the second; when it has room again, staged
// uploads have taken the arena.
TEST_F(PendingCommands, ADownloadThatLosesItsRoomMidwayReadsOnlyTheRestOnAStream) {
  constexpr int64_t kPiece = 1 << 20;
  shared_->limits["commands_in_flight_max"] = 8;
  shared_->on_command = [](const v1::Command&, FakePipe&) {};
  const std::shared_ptr<Session> session = Open(kPiece);
  const auto ping = [&] {
    v1::Command command;
    command.mutable_ping();
    return session->Send({}, std::move(command)).value();
  };
  const auto settle = [&](uint64_t command) {
    v1::ServerMessage message;
    message.add_settled(command);
    shared_->pipe->Answer(std::move(message));
  };
  const Command oldest = ping();  // Not settled until the end, so that later commands stay in the window.
  std::vector<std::byte> out(3 * kPiece);
  const std::unique_ptr<PendingDownload> pending =
      ArenaTransfer().Download(session, 1, Cause::kDownload, absl::MakeSpan(out), {});
  const v1::Command first = shared_->commands().back();
  ASSERT_EQ(first.download().length(), static_cast<uint64_t>(kPiece));
  while (shared_->commands().size() < 8 * 8) {  // The end of the window.
    settle(ping()->id);
    session->Drain();
  }
  Deliver(first);
  EXPECT_FALSE(pending->Ready());
  ASSERT_TRUE(session->arena()->TryTake(kPiece).has_value());
  v1::ServerMessage all;
  all.set_settled_through(shared_->commands().size());
  shared_->pipe->Answer(std::move(all));
  shared_->on_command = [](const v1::Command& command, FakePipe& pipe) {
    pipe.Answer(FakeDaemon::Failure(command.id(), "far enough"));
  };
  EXPECT_EQ(ErrorOf(pending->Await(absl::InfiniteFuture())).text, "far enough");
  const v1::Download rest = shared_->commands().back().download();
  EXPECT_TRUE(rest.stream());
  EXPECT_EQ(rest.offset(), static_cast<uint64_t>(kPiece));
  EXPECT_EQ(rest.length(), static_cast<uint64_t>(2 * kPiece));
  EXPECT_TRUE(rest.continued()) << "one call in the ledger";
}

}  // namespace
}  // namespace hlod::runtime
