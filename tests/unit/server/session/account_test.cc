// The charges to a session besides its buffers, the figures that it sees, and the daemon's account while
// sessions end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/synchronization/notification.h"
#include "tests/unit/server/session/pipe.h"

namespace hlod::session {
namespace {

TEST(Account, ProgramsThatWaitToBeCompiledAreLimitedTogether) {
  Daemon daemon(Limits{.staging_bytes_max = 1000});
  Client client(daemon);
  const std::shared_ptr<Session> session = client.machine();
  EXPECT_TRUE(session->budgets().staging.Reserve(600, "A program").ok());
  const absl::Status status = session->budgets().staging.Reserve(600, "A program");
  EXPECT_EQ(KindOf(status), ErrorKind::kLimit);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("staging_bytes_max"));
  session->budgets().staging.Release(600);
  // Each program releases its charge, whether it is compiled or refused.
  for (uint64_t handle = 1; handle < 20; ++handle) client.Do(client.CompileOf(handle, std::string(600, 'x')));
  EXPECT_TRUE(session->budgets().staging.Reserve(1000, "A program").ok());
  EXPECT_EQ(client.Fails(client.CompileOf(20, device::AddProgram())).kind, ErrorKind::kLimit);
}

TEST(Account, AProgramIsChargedWhileItComesInChunks) {
  Daemon daemon(Limits{.staging_bytes_max = 1000});
  Client client(daemon);
  const std::shared_ptr<Session> session = client.machine();
  v1::Command compile, chunk;
  compile.mutable_compile()->set_executable(1);
  compile.mutable_compile()->set_module_bytes(1200);
  chunk.mutable_program_chunk()->set_data(std::string(600, 'x'));
  const uint64_t refused = client.Send(compile);
  client.Send(chunk);
  EXPECT_FALSE(session->budgets().staging.Reserve(401, "A program").ok()) << "600 of 1000 bytes lie here.";
  // These bytes do not fit in addition to the first ones, so the whole program is dropped.
  client.Send(chunk);
  const ErrorDetails error = client.ErrorOfReply(client.Await(refused));
  EXPECT_EQ(error.kind, ErrorKind::kLimit);
  EXPECT_THAT(error.text, testing::HasSubstr("600 bytes beside 600 that wait: the limit staging_bytes_max"));
  EXPECT_TRUE(session->budgets().staging.Reserve(1000, "A program").ok());
  session->budgets().staging.Release(1000);
  // A compiled program releases its charge.
  compile.mutable_compile()->set_executable(2);
  compile.mutable_compile()->set_module_bytes(600);
  const uint64_t compiled = client.Send(compile);
  client.Send(chunk);
  EXPECT_EQ(client.ErrorOfReply(client.Await(compiled)).kind, ErrorKind::kInvalidProgram);
  EXPECT_TRUE(session->budgets().staging.Reserve(1000, "A program").ok());
}

// Thousands of rows take a while, and a single thread reads the messages of all sessions.
TEST(Account, StatsAreNotMadeOnTheThreadThatReads) {
  Daemon daemon;
  Client client(daemon);
  const auto go_on = std::make_shared<absl::Notification>();
  daemon.devices->transfers().Submit(/*session=*/99, 0, [go_on] { go_on->WaitForNotification(); });
  v1::Command stats;
  stats.mutable_stats();
  const uint64_t asked = client.Send(stats);
  EXPECT_TRUE(client.Do(client.PingOf(/*at_once=*/true)).has_pong());
  EXPECT_FALSE(client.replies.contains(asked));
  go_on->Notify();
  EXPECT_TRUE(client.Await(asked).has_stats());
}

TEST(Account, StatsAreRefusedWhileTooManyAreUnacknowledged) {
  Daemon daemon(Limits{.unacknowledged_bytes_max = 10'000});
  Client client(daemon);
  for (int i = 0; i < 50; ++i)
    client.Send(client.At(client.Line(std::string(200, 'a'), i), client.UploadOf({1, 2, 3, 4}, i + 1)));
  v1::Command stats;
  stats.mutable_stats();
  EXPECT_EQ(client.Fails(stats).kind, ErrorKind::kLimit);
  EXPECT_TRUE(client.Do(client.PingOf()).has_pong());
}

TEST(Account, RowsWithLongLinesFitIntoAMessage) {
  Daemon daemon;
  Client client(daemon);
  const std::string file(1000, 'a');
  constexpr int kRows = 17'000;
  for (int i = 0; i < kRows; ++i) {
    v1::Command line;
    line.mutable_define_origin()->set_id(static_cast<uint32_t>(i + 1));
    line.mutable_define_origin()->mutable_origin()->set_file(file);
    line.mutable_define_origin()->mutable_origin()->set_function(file);
    client.Send(line);
    client.machine()->session_device().ledger().Record({0, Cause::kUpload, static_cast<uint32_t>(i + 1), 0},
                                                       1);
  }
  const v1::SessionStats stats = client.Stats();
  EXPECT_LT(stats.ByteSizeLong(), 32u << 20);
  int64_t bytes = 0;
  for (const v1::LedgerRow& row : stats.rows()) bytes += row.amount().bytes();
  EXPECT_EQ(bytes, kRows) << "Nothing is left out of the sum.";
  EXPECT_EQ(stats.rows(0).origin().file(), file);
}

TEST(Account, WhatRunsOnAfterASessionsEndIsStillCounted) {
  Daemon daemon;
  std::shared_ptr<device::SessionDevice> running;
  {
    Client client(daemon);
    client.Do(client.UploadOf({1, 2, 3, 4}, 1));
    running = client.machine()->shared_session_device();
    v1::Command goodbye;
    goodbye.mutable_goodbye();
    client.Send(goodbye);
  }
  const auto bytes = [&daemon] { return daemon.registry->Stats().totals().host_to_device().bytes(); };
  EXPECT_EQ(bytes(), 16);
  daemon.registry->Tick();
  running->ledger().Record({0, Cause::kUpload, 0, 0}, 5);
  EXPECT_EQ(bytes(), 21);
  running.reset();
  daemon.registry->Tick();
  EXPECT_EQ(bytes(), 21);
  EXPECT_EQ(daemon.devices->ledger().ended().directions[static_cast<int>(Direction::kHostToDevice)].bytes, 21)
      << "Now nobody can count any more.";
}

TEST(Account, TheDaemonsTotalNeverDipsWhileSessionsEnd) {
  Daemon daemon;
  std::atomic<bool> stop{false};
  std::atomic<int64_t> uploads{0};
  std::thread clients([&] {
    while (!stop) {
      Client client(daemon);
      client.Do(client.UploadOf({1, 2, 3, 4}, 1));
      uploads += 1;
      v1::Command goodbye;
      goodbye.mutable_goodbye();
      client.Send(goodbye);
      daemon.registry->Tick();
    }
  });
  int64_t last = 0;
  for (int i = 0; i < 2000; ++i) {
    const int64_t at_least = uploads * 16;
    const int64_t now = daemon.registry->Stats().totals().host_to_device().bytes();
    EXPECT_GE(now, at_least);
    EXPECT_GE(now, last);
    last = now;
  }
  stop = true;
  clients.join();
}

TEST(Account, ASessionIsBusyWhileSomethingIsUnderWay) {
  Daemon daemon;
  Client client(daemon);
  EXPECT_FALSE(daemon.registry->busy());
  client.Send(client.StreamUploadOf(1));
  EXPECT_TRUE(daemon.registry->busy()) << "An upload.";
  daemon.clock.Advance(absl::Seconds(31));
  daemon.registry->Tick();
  EXPECT_FALSE(daemon.registry->busy());
  client.Send(client.UploadOf({1, 2, 3, 4}, 2));
  v1::Command download = client.DownloadOf(2);
  download.mutable_download()->set_stream(true);
  const uint64_t id = client.Send(download);
  client.Await(id);
  EXPECT_TRUE(daemon.registry->busy()) << "Bytes that wait to be fetched.";
  client.machine()->transfers().CountDownload(*client.machine()->transfers().FindDownload(id).value());
  EXPECT_FALSE(daemon.registry->busy());
}

}  // namespace
}  // namespace hlod::session
