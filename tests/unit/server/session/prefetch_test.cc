// Results that a client reads ahead: the bytes come with the end of the execute, and are counted as prefetch
// until the program has read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/session/pipe.h"

namespace hlod::session {
namespace {

using testing::HasSubstr;

v1::Command AheadOf(uint64_t handle) {
  v1::Command command = Client::DownloadOf(handle);
  command.mutable_download()->set_cause(static_cast<int>(Cause::kPrefetch));
  return command;
}

v1::Command ReadOf(uint64_t download, Cause cause) {
  v1::Command command;
  command.mutable_read_prefetched()->set_download(download);
  command.mutable_read_prefetched()->set_cause(static_cast<int>(cause));
  return command;
}

// Compiles x + y as 1, and uploads x as 2 and y as 3, which takes commands 1 to 3.
void Prepare(Client& client) {
  client.SendTogether({client.CompileOf(1, device::AddProgram()), client.UploadOf({1, 2, 3, 4}, 2),
                       client.UploadOf({10, 20, 30, 40}, 3)});
  EXPECT_FALSE(client.Await(3).has_error());
}

// Returns the rows of reads: cause, line, step, calls and bytes.
std::vector<std::tuple<Cause, int, uint64_t, int64_t, int64_t>> Reads(const v1::SessionStats& stats) {
  std::vector<std::tuple<Cause, int, uint64_t, int64_t, int64_t>> rows;
  for (const v1::LedgerRow& row : stats.rows()) {
    const Cause cause = CauseFromNumber(row.cause()).value();
    if (DirectionOf(cause) != Direction::kDeviceToHost) continue;
    rows.emplace_back(cause, row.origin().line(), row.step(), row.amount().calls(), row.amount().bytes());
  }
  return rows;
}

TEST(Prefetch, TheValueComesWithTheEndOfTheExecuteAndIsCountedWhereItIsRead) {
  Daemon daemon;
  Client client(daemon);
  Prepare(client);
  const uint32_t executed = client.Line("step.py", 4), read = client.Line("step.py", 9);
  client.SendTogether(
      {client.At(executed, client.ExecuteOf(1, {2, 3}, {4})), client.At(executed, AheadOf(4))});
  const uint64_t ahead = client.last_command;
  EXPECT_EQ(client.Await(ahead).download().inline_(), Client::Bytes({11, 22, 33, 44}));
  EXPECT_EQ(Reads(client.Stats()), (decltype(Reads({})){{Cause::kPrefetch, 4, 0, 1, 16}}));
  v1::Command step;
  step.mutable_step_mark()->set_step(7);
  client.Send(step);
  EXPECT_FALSE(client.Do(client.At(read, ReadOf(ahead, Cause::kScalarRead))).has_error());
  const v1::SessionStats stats = client.Stats();
  EXPECT_EQ(Reads(stats), (decltype(Reads({})){{Cause::kScalarRead, 9, 7, 1, 16}}));
  EXPECT_EQ(stats.device_to_host().bytes(), 16);
  EXPECT_EQ(stats.device_to_host().calls(), 1);
  // A second claim of the same bytes changes nothing.
  EXPECT_FALSE(client.Do(client.At(executed, ReadOf(ahead, Cause::kDownload))).has_error());
  EXPECT_EQ(Reads(client.Stats()), (decltype(Reads({})){{Cause::kScalarRead, 9, 7, 1, 16}}));
}

TEST(Prefetch, ComesOnceAndIsCountedOnceWhenTheConnectionBreaks) {
  Daemon daemon;
  Client client(daemon);
  Prepare(client);
  client.SendTogether({client.ExecuteOf(1, {2, 3}, {4}), AheadOf(4)});
  const uint64_t ahead = client.last_command;
  client.Await(ahead);
  client.Break();
  client.replies.clear();
  client.Connect(client.ResumeOf());
  EXPECT_EQ(client.Await(ahead).download().inline_(), Client::Bytes({11, 22, 33, 44}));
  client.Do(ReadOf(ahead, Cause::kDownload));
  EXPECT_EQ(Reads(client.Stats()), (decltype(Reads({})){{Cause::kDownload, 0, 0, 1, 16}}));
}

TEST(Prefetch, OfAPlaceholderOrOfAFailedExecuteIsRefusedAndNotCounted) {
  Daemon daemon;
  Client client(daemon);
  Prepare(client);
  client.Do(client.PlaceholderOf(4));
  EXPECT_EQ(client.Fails(AheadOf(4)).kind, ErrorKind::kPlaceholder);
  client.SendTogether({client.ExecuteOf(1, {2, 99}, {5}), AheadOf(5)});
  const ErrorDetails failed = client.ErrorOfReply(client.Await(client.last_command));
  EXPECT_EQ(failed.code, absl::StatusCode::kNotFound);
  EXPECT_FALSE(client.Do(ReadOf(client.last_command, Cause::kDownload)).has_error());
  EXPECT_TRUE(Reads(client.Stats()).empty());
}

TEST(Prefetch, HasALimitOfItsOwnAndIsInline) {
  Daemon daemon(Limits{.prefetch_bytes_max = 15});
  Client client(daemon);
  Prepare(client);
  const ErrorDetails large = client.Fails(AheadOf(2));
  EXPECT_EQ(large.kind, ErrorKind::kLimit);
  EXPECT_THAT(large.text, HasSubstr("16 bytes inside a reply; the limit prefetch_bytes_max is 15"));
  v1::Command stream = AheadOf(2);
  stream.mutable_download()->set_stream(true);
  EXPECT_EQ(client.Fails(stream).kind, ErrorKind::kArgument);
  EXPECT_EQ(client.Fails(ReadOf(1, Cause::kUpload)).kind, ErrorKind::kArgument);
  EXPECT_EQ(client.Fails(ReadOf(1, Cause::kPrefetch)).kind, ErrorKind::kArgument);
}

}  // namespace
}  // namespace hlod::session
