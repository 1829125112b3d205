// Exceeds each limit by one: the error has the kind limit and names the limit and its value, and the session
// goes on (or, where it cannot, ends).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/session/pipe.h"

namespace hlod::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;

void ExpectLimit(const ErrorDetails& error, const std::string& name, int64_t value) {
  EXPECT_EQ(error.kind, ErrorKind::kLimit) << error.text;
  EXPECT_EQ(error.code, absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(error.text, AllOf(HasSubstr(name), HasSubstr(std::to_string(value))));
}

TEST(Limits, AreInTheWelcome) {
  Limits limits;
  limits.sessions_max = 7;
  Daemon daemon(limits);
  Client client(daemon);
  int count = 0;
  ForEachLimit([&](std::string_view, int64_t Limits::*, std::string_view) { ++count; });
  EXPECT_EQ(client.welcome.limits_size(), count);
  EXPECT_EQ(client.welcome.limits(0).name(), "sessions_max");
  EXPECT_EQ(client.welcome.limits(0).value(), 7);
}

TEST(Limits, Sessions) {
  Daemon daemon(Limits{.sessions_max = 2});
  Client one(daemon), two(daemon), three(daemon);
  ExpectLimit(ErrorOf(three.Ended()), "sessions_max", 2);
  EXPECT_TRUE(two.Do(two.PingOf()).has_pong());
}

TEST(Limits, SessionsOfOneUser) {
  Daemon daemon(Limits{.sessions_max = 4, .sessions_per_user_max = 2});
  Client one(daemon), two(daemon), three(daemon);
  ExpectLimit(ErrorOf(three.Ended()), "sessions_per_user_max", 2);
  EXPECT_THAT(std::string(three.Ended().message()), HasSubstr("user 1"));
  Client other(daemon, 0, "user 2");
  EXPECT_TRUE(other.Do(other.PingOf()).has_pong()) << "One user does not take all sessions.";
}

TEST(Limits, Handles) {
  Daemon daemon(Limits{.handles_per_session_max = 3});
  Client client(daemon);
  for (uint64_t handle = 1; handle <= 3; ++handle)
    EXPECT_FALSE(client.Do(client.PlaceholderOf(handle)).has_error());
  ExpectLimit(client.Fails(client.PlaceholderOf(4)), "handles_per_session_max", 3);
  ExpectLimit(client.Fails(client.UploadOf({1, 2, 3, 4}, 5)), "handles_per_session_max", 3);
  ExpectLimit(client.Fails(client.CompileOf(6, device::AddProgram())), "handles_per_session_max", 3);
  ExpectLimit(client.Fails(client.DownloadOf(4)), "handles_per_session_max",
              3);  // The root cause is remembered.
  client.Send(client.FreeOf({1}));
  EXPECT_FALSE(client.Do(client.PlaceholderOf(7)).has_error());
}

TEST(Limits, SessionBytes) {
  Daemon daemon(Limits{.session_bytes_max = 100});
  Client client(daemon);
  ExpectLimit(client.Fails(client.CompileOf(1, device::AddProgram())), "session_bytes_max", 100);
  EXPECT_TRUE(client.Do(client.PingOf()).has_pong());
}

TEST(Limits, CommandsInFlight) {
  Daemon daemon(Limits{.commands_in_flight_max = 4});
  Client client(daemon);
  client.Send(client.StreamUploadOf(1));
  for (int i = 0; i < 3; ++i) client.Send(client.PingOf());
  const uint64_t refused = client.Send(client.PingOf());
  ExpectLimit(client.ErrorOfReply(client.Await(refused)), "commands_in_flight_max", 4);
  while (client.last_command < 17 * 4) client.Send(client.PingOf());
  EXPECT_FALSE(client.ended());
  client.Send(client.PingOf());
  EXPECT_EQ(KindOf(client.Ended()), ErrorKind::kLimit) << "Who does not stop is stopped.";
}

TEST(Limits, UnacknowledgedBytes) {
  Daemon daemon(Limits{.unacknowledged_bytes_max = 1000});
  Client client(daemon);
  client.Send(client.UploadOf(std::vector<float>(200, 1), 1, hlo::Shape::Array(hlo::kF32, {200})));
  EXPECT_FALSE(client.Do(client.DownloadOf(1)).has_error());
  ExpectLimit(client.Fails(client.DownloadOf(1)), "unacknowledged_bytes_max", 1000);
  client.ack_through = client.last_command;
  EXPECT_FALSE(client.Do(client.DownloadOf(1)).has_error());
}

TEST(Limits, RepliesThatAreNotAcknowledgedCountAsTheMemoryTheyTake) {
  Daemon daemon(Limits{.commands_in_flight_max = 64, .unacknowledged_bytes_max = 1000});
  Client client(daemon);
  // A pong has 6 bytes on the wire and takes about 200 in memory: the limit and its reserve, 66,536 bytes,
  // hold about 300 pongs.
  for (int i = 0; i < 1000 && !client.ended(); ++i) client.Send(client.PingOf(/*at_once=*/true));
  ExpectLimit(ErrorOf(client.Ended()), "unacknowledged_bytes_max", 1000);
}

TEST(Limits, PiecesOfAnUploadDoNotFillTheWindow) {
  Daemon daemon(Limits{.commands_in_flight_max = 4});
  Client client(daemon);
  const hlo::Shape shape = hlo::Shape::Array(hlo::kU8, {1000});
  v1::Command upload = client.StreamUploadOf(1, shape);
  upload.mutable_upload()->clear_stream();
  upload.mutable_upload()->set_arena(true);
  const uint64_t id = client.Send(upload);
  int fd = -1;
  ASSERT_TRUE(client.machine()->transfers().MapArena(&fd).ok());
  for (uint64_t i = 0; i < 1000; ++i) {  // The window is 64 commands.
    v1::Command piece;
    piece.mutable_upload_piece()->set_upload(id);
    piece.mutable_upload_piece()->set_buffer_offset(i);
    piece.mutable_upload_piece()->set_length(1);
    const v1::Reply reply = client.Do(piece);
    ASSERT_FALSE(reply.has_error()) << i << ": " << reply.error().text();
    client.acknowledge.push_back(reply.command());
  }
  EXPECT_FALSE(client.Await(id).has_error()) << "All bytes came.";
}

TEST(Limits, InlineBytes) {
  Daemon daemon(Limits{.inline_bytes_max = 16});
  Client client(daemon);
  EXPECT_FALSE(client.Do(client.UploadOf({1, 2, 3, 4}, 1)).has_error());
  const hlo::Shape five = hlo::Shape::Array(hlo::kF32, {5});
  ExpectLimit(client.Fails(client.UploadOf({1, 2, 3, 4, 5}, 2, five)), "inline_bytes_max", 16);
  const uint64_t upload = client.Send(client.StreamUploadOf(3, five));
  device::SessionDevice& session_device = client.machine()->session_device();
  session_device.uploads().AddReceived(upload, session_device.uploads().Claim(upload)->generation, 20);
  ExpectLimit(client.Fails(client.DownloadOf(3)), "inline_bytes_max", 16);
  v1::Command execute = client.ExecuteOf(9, {0}, {10});
  *execute.mutable_execute()->add_literals()->mutable_shape() = Client::Shape(five);
  execute.mutable_execute()->mutable_literals(0)->set_data(std::string(20, 'x'));
  ExpectLimit(client.Fails(execute), "inline_bytes_max", 16);
}

TEST(Limits, ProgramAndChunkBytes) {
  const std::string program = device::AddProgram();
  Daemon daemon(Limits{.chunk_bytes_max = 50, .program_bytes_max = static_cast<int64_t>(program.size()) - 1});
  Client client(daemon);
  ExpectLimit(client.Fails(client.CompileOf(1, program)), "chunk_bytes_max", 50);
  v1::Command compile;
  compile.mutable_compile()->set_executable(2);
  compile.mutable_compile()->set_module_bytes(program.size());
  const uint64_t id = client.Send(compile);
  for (size_t i = 0; i < program.size(); i += 50) {
    v1::Command chunk;
    chunk.mutable_program_chunk()->set_data(program.substr(i, 50));
    client.Send(chunk);
  }
  ExpectLimit(client.ErrorOfReply(client.Await(id)), "program_bytes_max",
              static_cast<int64_t>(program.size()) - 1);
}

TEST(Limits, InstructionsAndExecutables) {
  Daemon daemon(Limits{.instructions_max = 3, .executables_per_session_max = 1});
  Client client(daemon);
  EXPECT_FALSE(client.Do(client.CompileOf(1, device::AddProgram())).has_error());
  ExpectLimit(client.Fails(client.CompileOf(2, device::AddProgram())), "executables_per_session_max", 1);
  client.Send(client.FreeOf({1}));
  ExpectLimit(client.Fails(client.CompileOf(3, device::SeparateProgram())), "instructions_max", 3);
}

TEST(Limits, BufferAndStagingBytes) {
  Daemon daemon(Limits{.buffer_bytes_max = 100, .staging_bytes_max = 20});
  Client client(daemon);
  ExpectLimit(client.Fails(client.PlaceholderOf(1, hlo::Shape::Array(hlo::kU8, {101}))), "buffer_bytes_max",
              100);
  client.Send(client.StreamUploadOf(2));
  ExpectLimit(client.Fails(client.StreamUploadOf(3)), "staging_bytes_max", 20);
  client.Send(client.UploadOf({1, 2, 3, 4}, 4));
  EXPECT_FALSE(client.Do(client.DownloadOf(4)).has_error()) << "Bytes that came along are not staged.";
}

// Copies one range three times, where the limit allows two.
TEST(Limits, CopiesUnderWay) {
  constexpr int64_t kBytes = 1 << 20;
  Daemon daemon(Limits{.arena_bytes = 2 * kBytes});
  // Keeps the transfer thread busy with another session's copy.
  const auto busy = std::make_shared<absl::Notification>();
  daemon.devices->transfers().Submit(99, 0, [busy] { busy->WaitForNotification(); });
  {
    Client client(daemon);
    const uint64_t upload = client.Send(client.StreamUploadOf(1, hlo::Shape::Array(hlo::kU8, {kBytes})));
    device::SessionDevice& session_device = client.machine()->session_device();
    session_device.uploads().AddReceived(upload, session_device.uploads().Claim(upload)->generation, kBytes);
    int fd = -1;
    ASSERT_TRUE(client.machine()->transfers().MapArena(&fd).ok());
    v1::Command download = client.DownloadOf(1);
    download.mutable_download()->mutable_arena()->set_length(kBytes);
    client.Send(download);
    client.Send(download);
    ExpectLimit(client.Fails(download), "arena_bytes", 2 * kBytes);
    EXPECT_EQ(daemon.devices->queued(), 3);
    v1::Command goodbye;
    goodbye.mutable_goodbye();
    client.Send(goodbye);
  }
  EXPECT_EQ(daemon.devices->queued(), 1) << "Copies of a session that has ended are dropped.";
  EXPECT_EQ(daemon.used_bytes(), 0) << "And hold nothing.";
  Client other(daemon);
  busy->Notify();
  EXPECT_TRUE(other.Do(other.PingOf()).has_pong());
}

TEST(Limits, Origins) {
  Daemon daemon(Limits{.origins_per_session_max = 1});
  Client client(daemon);
  client.Line("a.cc", 1);
  client.Line("b.cc", 2);
  ExpectLimit(client.ErrorOfReply(client.Await(client.last_command)), "origins_per_session_max", 1);
}

TEST(Limits, UploadWaitAndGrace) {
  Daemon daemon(Limits{.upload_wait_us = 1000, .grace_us = 2000});
  Client client(daemon);
  const uint64_t upload = client.Send(client.StreamUploadOf(1));
  daemon.clock.Advance(absl::Microseconds(1000));
  daemon.registry->Tick();
  EXPECT_THAT(client.ErrorOfReply(client.Await(upload)).text, HasSubstr("upload_wait_us (1000)"));
  client.Break();
  daemon.clock.Advance(absl::Microseconds(2000));
  daemon.registry->Tick();
  EXPECT_EQ(daemon.registry->size(), 0u);
}

TEST(Limits, ExecuteTime) {
  Daemon daemon(Limits{.execute_us_max = 20'000});
  Client client(daemon);
  client.Send(client.CompileOf(1, device::LoopProgram()));
  v1::Command execute = client.ExecuteOf(1, {0}, {2});
  *execute.mutable_execute()->add_literals()->mutable_shape() = Client::Shape(hlo::Shape::Scalar(hlo::kS64));
  execute.mutable_execute()->mutable_literals(0)->set_data(std::string(8, '\xff'));
  execute.mutable_execute()->set_deadline_us(UINT64_MAX);
  EXPECT_THAT(client.Fails(execute).text, HasSubstr("20000"));
}

TEST(Limits, ArenaOfNoBytesIsNotOffered) {
  Daemon with, without(Limits{.arena_bytes = 0});
  Client one(with), other(without);
  EXPECT_TRUE(one.welcome.has_arena());
  EXPECT_FALSE(other.welcome.has_arena());
}

TEST(Limits, FailedHandlesBeyondTheReasonsKeptHaveNoWords) {
  Daemon daemon(Limits{.buffer_bytes_max = 8, .reasons_kept = 1});
  Client client(daemon);
  for (const uint64_t handle : {1, 2}) {
    const ErrorDetails answered = client.Fails(client.PlaceholderOf(handle));
    EXPECT_THAT(answered.text, HasSubstr("buffer_bytes_max"));
    const ErrorDetails later = client.Fails(client.DownloadOf(handle));
    EXPECT_EQ(later.kind, answered.kind);
    EXPECT_EQ(later.root_command, answered.root_command);
    EXPECT_EQ(later.text.find("buffer_bytes_max") != std::string::npos, handle == 1) << later.text;
  }
}

TEST(Limits, ReasonsKept) {
  Daemon daemon(Limits{.reasons_kept = 1});
  Client client(daemon);
  client.Send(client.PlaceholderOf(1));
  client.Send(client.PlaceholderOf(2));
  client.Send(client.FreeOf({1, 2}));
  EXPECT_EQ(client.Fails(client.DownloadOf(2)).kind, ErrorKind::kDeleted);
  EXPECT_EQ(client.Fails(client.DownloadOf(1)).kind, ErrorKind::kUnknownHandle);
}

}  // namespace
}  // namespace hlod::session
