// Lifetimes: sessions that end while others still use them, streams that were replaced, and refusals that
// must not disturb the order of later commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/session/pipe.h"

namespace hlod::session {
namespace {

using testing::ElementsAre;

TEST(EndedSession, CannotBeAttachedTo) {
  Daemon daemon;
  Client client(daemon);
  const std::shared_ptr<Session> session = client.machine();
  daemon.registry->End(session, MakeError(ErrorKind::kLostSession, "The lease ran out."));
  auto stream = std::make_shared<PipeStream>();
  EXPECT_EQ(KindOf(session->answers().Attach(stream, v1::Welcome()).status()), ErrorKind::kLostSession);
  EXPECT_FALSE(stream->Next(absl::ZeroDuration()).has_value()) << "It is not welcomed.";
}

TEST(EndedSession, CannotBeAttachedToOnceItsLeaseHasRunOut) {
  Daemon daemon;
  Client client(daemon);
  const std::shared_ptr<Session> session = client.machine();
  const absl::Time lost = daemon.clock.Now();
  EXPECT_FALSE(session->answers().LeaseRanOut(lost + absl::Hours(1), absl::Seconds(30)))
      << "It is connected.";
  client.Break();
  EXPECT_FALSE(session->answers().LeaseRanOut(lost + absl::Seconds(29), absl::Seconds(30)));
  EXPECT_TRUE(session->answers().LeaseRanOut(lost + absl::Seconds(30), absl::Seconds(30)));
  EXPECT_EQ(KindOf(session->answers().Attach(std::make_shared<PipeStream>(), v1::Welcome()).status()),
            ErrorKind::kLostSession);
}

// One thread handles the ping while another ends the session.
TEST(EndedSession, IsNotKeptByAPingThatCameTooLate) {
  Daemon daemon;
  std::weak_ptr<Session> left;
  {
    Client client(daemon);
    const std::shared_ptr<Session> session = client.machine();
    left = session;
    session->End(absl::OkStatus());
    session->answers().WhenAllBefore(2, [session] {});
    daemon.registry->End(session, absl::OkStatus());
  }
  EXPECT_TRUE(left.expired());
}

// A bulk stream that only records that it was stopped.
struct FakeBulk : BulkStream {
  void Stop() override { stopped = true; }
  std::atomic<bool> stopped{false};
};

TEST(EndedSession, StopsItsBulkStreamsAndTakesNoMore) {
  Daemon daemon;
  Client client(daemon);
  const std::shared_ptr<Session> session = client.machine();
  const auto bulk = std::make_shared<FakeBulk>();
  ASSERT_TRUE(session->transfers().AddBulkStream(bulk).ok());
  v1::Command goodbye;
  goodbye.mutable_goodbye();
  client.Send(goodbye);
  EXPECT_TRUE(bulk->stopped);
  EXPECT_EQ(session->transfers().AddBulkStream(bulk).code(), absl::StatusCode::kCancelled);
}

TEST(EndedSession, BulkStreamsAreLimited) {
  Daemon daemon;
  Client client(daemon);
  std::vector<std::shared_ptr<FakeBulk>> open;
  absl::Status status;
  while (status.ok() && open.size() < 10'000) {
    status = client.machine()->transfers().AddBulkStream(open.emplace_back(std::make_shared<FakeBulk>()));
  }
  EXPECT_EQ(KindOf(status), ErrorKind::kLimit);
  open.clear();
  EXPECT_TRUE(client.machine()->transfers().AddBulkStream(std::make_shared<FakeBulk>()).ok());
}

TEST(ReplacedStream, TakesItsGarbageWithItAndNotTheSession) {
  Daemon daemon;
  auto old_stream = std::make_shared<PipeStream>();
  Connection old(*daemon.registry, Peer{});
  v1::ClientMessage hello;
  hello.mutable_hello()->set_version_min(1);
  hello.mutable_hello()->set_version_max(1);
  old.OnMessage(old_stream, hello);
  const v1::Welcome welcome = old_stream->Next()->welcome();
  hello.mutable_hello()->mutable_resume()->set_epoch(welcome.epoch());
  hello.mutable_hello()->mutable_resume()->set_session(welcome.session());
  hello.mutable_hello()->mutable_resume()->set_secret(welcome.secret());
  auto new_stream = std::make_shared<PipeStream>();
  Connection renewed(*daemon.registry, Peer{});
  renewed.OnMessage(new_stream, hello);
  old.OnMalformed(*old_stream);
  EXPECT_TRUE(old_stream->end().has_value());
  EXPECT_FALSE(new_stream->end().has_value());
  EXPECT_EQ(daemon.registry->size(), 1u);
}

// Others wait for the parts of a process whose connection has ended, also for its first: not for grace_us (30
// s).
TEST(Lease, OfASessionThatLaunchesWithOthersIsShort) {
  Daemon daemon;
  for (const bool separate : {false, true}) {
    Client client(daemon, /*pid=*/0, "user 1", separate);
    const size_t before = daemon.registry->size();
    client.Break();
    daemon.clock.Advance(absl::Milliseconds(500));
    daemon.registry->Tick();
    EXPECT_EQ(daemon.registry->size(), before) << "It may come back.";
    daemon.clock.Advance(absl::Milliseconds(500));
    daemon.registry->Tick();
    EXPECT_EQ(daemon.registry->size(), separate ? before - 1 : before);
  }
}

TEST(Transfer, ThatCameBeforeItsDeclarationGoesOnOnceTheCommandWasHandled) {
  Daemon daemon;
  Client client(daemon);
  std::vector<absl::Status> told;
  for (const uint64_t command : {1, 2}) {
    client.machine()->transfers().AwaitUpload(command,
                                              [&](const absl::Status& status) { told.push_back(status); });
  }
  daemon.registry->Tick();
  EXPECT_TRUE(told.empty());
  client.Send(client.StreamUploadOf(1));
  client.Send(client.PingOf());  // The id is not an upload's, so its transfer waits in vain.
  ASSERT_EQ(told.size(), 2u);
  EXPECT_TRUE(told[0].ok()) << told[0];
  EXPECT_EQ(told[1].code(), absl::StatusCode::kNotFound);
}

TEST(Transfer, ThatIsRepeatedBeforeItsDeclarationEndsTheFirstStream) {
  Daemon daemon;
  Client client(daemon);
  std::vector<absl::Status> first, second;
  client.machine()->transfers().AwaitUpload(1, [&](const absl::Status& status) { first.push_back(status); });
  client.machine()->transfers().AwaitUpload(1, [&](const absl::Status& status) { second.push_back(status); });
  ASSERT_EQ(first.size(), 1u) << "It is given up by its client, and would hold its bytes.";
  EXPECT_EQ(first[0].code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(second.empty());
  client.Send(client.StreamUploadOf(1));
  ASSERT_EQ(second.size(), 1u);
  EXPECT_TRUE(second[0].ok()) << second[0];
  EXPECT_EQ(first.size(), 1u);
}

// The network is gone for 25 seconds, beginning 20 seconds after the declaration.
TEST(Transfer, OfAClientThatResumedIsWaitedForAsLongAsANewOne) {
  Daemon daemon(Limits{.upload_wait_us = 30'000'000, .grace_us = 30'000'000});
  Client client(daemon);
  const auto pass = [&](int seconds) {
    daemon.clock.Advance(absl::Seconds(seconds));
    daemon.registry->Tick();
  };
  std::vector<absl::Status> told;
  client.machine()->transfers().AwaitUpload(2, [&](const absl::Status& status) { told.push_back(status); });
  const uint64_t upload = client.Send(client.StreamUploadOf(1));
  pass(20);
  client.Break();
  pass(25);
  client.Connect(client.ResumeOf());
  pass(29);
  client.Send(client.PingOf());  // Command 2, so the other transfer waits in vain: but it has waited.
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].code(), absl::StatusCode::kNotFound) << told[0];
  EXPECT_TRUE(client.machine()->session_device().uploads().ExpectsTransfer(upload));
  pass(1);
  EXPECT_EQ(KindOf(ToStatus(client.ErrorOfReply(client.Await(upload)))), ErrorKind::kPending);
}

// A session with one command in flight, an upload whose bytes never come. Every later command is refused.
struct Full {
  Daemon daemon{Limits{.commands_in_flight_max = 1}};
  Client client{daemon};
  Full() { client.Send(client.StreamUploadOf(1)); }
  void MakeRoom() {
    daemon.clock.Advance(absl::Seconds(31));
    daemon.registry->Tick();
  }
};

TEST(Refusal, KeepsLinesAndStepsInOrder) {
  Full full;
  Client& client = full.client;
  client.Line("a.cc", 1);
  v1::Command step;
  step.mutable_step_mark()->set_step(5);
  client.Send(step);
  full.MakeRoom();
  const uint32_t line = client.Line("b.cc", 2);
  client.Send(client.At(line, client.UploadOf({1, 2, 3, 4}, 2)));
  const v1::SessionStats stats = client.Stats();
  ASSERT_EQ(stats.rows_size(), 1);
  EXPECT_EQ(stats.rows(0).origin().file(), "b.cc");
  EXPECT_EQ(stats.rows(0).step(), 5u);
}

TEST(Refusal, TakesAProgramInChunksToItsEnd) {
  Full full;
  Client& client = full.client;
  const std::string program = device::AddProgram();
  v1::Command compile;
  compile.mutable_compile()->set_executable(2);
  compile.mutable_compile()->set_module_bytes(program.size());
  const uint64_t id = client.Send(compile);
  v1::Command chunk;
  chunk.mutable_program_chunk()->set_data(program);
  client.Send(chunk);
  EXPECT_EQ(client.ErrorOfReply(client.Await(id)).kind, ErrorKind::kLimit);
  EXPECT_FALSE(client.ended());
}

TEST(Refusal, FailsTheHandlesThatWereToBeDefined) {
  Full full;
  Client& client = full.client;
  client.Send(client.PlaceholderOf(2));
  client.Send(client.UploadOf({1, 2, 3, 4}, 3));
  client.Send(client.CompileOf(4, device::AddProgram()));
  client.Send(client.ExecuteOf(4, {3, 3}, {5}));
  full.MakeRoom();
  for (const uint64_t handle : {2, 3, 5}) {
    const ErrorDetails error = client.Fails(client.DownloadOf(handle));
    EXPECT_EQ(error.kind, ErrorKind::kLimit) << handle << ": " << error.text;
    // Here a command and its handle have the same number.
    EXPECT_EQ(error.root_command, handle) << "Where it began.";
  }
}

TEST(Download, OnAStreamIsCountedAlsoWhenItWasAcknowledgedMeanwhileAndOnce) {
  Daemon daemon;
  Client client(daemon);
  client.Send(client.UploadOf({1, 2, 3, 4}, 1));
  for (const bool continued : {false, true}) {
    v1::Command download = client.DownloadOf(1);
    download.mutable_download()->set_stream(true);
    download.mutable_download()->set_continued(continued);
    const uint64_t id = client.Send(download);
    client.Await(id);
    const std::shared_ptr<KeptDownload> kept = client.machine()->transfers().FindDownload(id).value();
    client.ack_through = id;
    client.Do(client.PingOf());
    for (int i = 0; i < 2; ++i) client.machine()->transfers().CountDownload(*kept);
  }
  EXPECT_EQ(client.Stats().device_to_host().bytes(), 32);
  EXPECT_EQ(client.Stats().device_to_host().calls(), 1) << "The second is a further piece of the first.";
}

}  // namespace
}  // namespace hlod::session
