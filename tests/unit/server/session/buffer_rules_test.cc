// Rules of buffers: placeholders, donation, failed results, memory, and the text of each refusal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/server/session/pipe.h"

namespace hlod::session {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A compiled add, and two lines for errors to name.
struct Fixture {
  explicit Fixture(const Limits& limits = {}, int64_t device_bytes = 64 << 20, uint32_t devices = 1)
      : daemon(limits, device_bytes, devices), client(daemon) {
    made = client.Line("/src/model.cc", 8);
    used = client.Line("/src/train.cc", 41);
    client.Send(client.CompileOf(1, device::AddProgram()));
  }
  Daemon daemon;
  Client client;
  uint32_t made, used;
};

TEST(Placeholder, CostsNothingAndIsRefusedByNameShapeAndLine) {
  Fixture f;
  f.client.Do(f.client.At(f.made, f.client.PlaceholderOf(2, hlo::Shape::Array(hlo::kBF16, {4096, 14336}))));
  EXPECT_EQ(f.daemon.used_bytes(), 0);
  const ErrorDetails error = f.client.Fails(f.client.DownloadOf(2));
  EXPECT_EQ(error.kind, ErrorKind::kPlaceholder);
  EXPECT_EQ(error.code, absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(error.handle, 2u);
  EXPECT_EQ(error.shape, "bf16[4096,14336]");
  EXPECT_EQ(error.origin.line, 8);
  EXPECT_THAT(error.text, AllOf(HasSubstr("bf16[4096,14336]"), HasSubstr("model.cc:8")));
  const v1::SessionStats stats = f.client.Stats();
  EXPECT_EQ(stats.refused_reads(), 1);
  EXPECT_EQ(stats.device_to_host().bytes() + stats.host_to_device().bytes(), 0);
  EXPECT_EQ(stats.placeholders(), 1);
  EXPECT_EQ(stats.simulated_live_bytes(), 4096LL * 14336 * 2);
}

TEST(Placeholder, AsAnArgumentIsRefusedNamingTheParameter) {
  Fixture f;
  f.client.Send(f.client.At(f.made, f.client.PlaceholderOf(2)));
  f.client.Send(f.client.UploadOf({1, 2, 3, 4}, 3));
  const uint64_t execute = f.client.Send(f.client.At(f.used, f.client.ExecuteOf(1, {3, 2}, {4})));
  const ErrorDetails error = f.client.ErrorOfReply(f.client.Await(execute));
  EXPECT_EQ(error.kind, ErrorKind::kPlaceholder);
  EXPECT_THAT(error.text, AllOf(HasSubstr("execute of \"add\" failed"), HasSubstr("parameter 1 \"b\""),
                                HasSubstr("model.cc:8"), HasSubstr("train.cc:41")));
  EXPECT_EQ(error.root_command, execute) << "It is its own root.";
  // Commands that use the result fail with the same root cause.
  const ErrorDetails consumer = f.client.Fails(f.client.DownloadOf(4));
  EXPECT_EQ(consumer.kind, ErrorKind::kPlaceholder);
  EXPECT_EQ(consumer.text, error.text);
  EXPECT_EQ(consumer.root_command, execute);
  EXPECT_EQ(consumer.root_origin.line, 41);
}

TEST(Placeholder, FilledByAnUploadKeepsItsHandle) {
  Fixture f;
  f.client.Send(f.client.PlaceholderOf(2));
  v1::Command fill = f.client.UploadOf({1, 2, 3, 4}, 2);
  fill.mutable_upload()->set_fill(true);
  fill.mutable_upload()->set_cause(static_cast<int>(Cause::kPlaceholderFill));
  EXPECT_FALSE(f.client.Do(fill).has_error());
  EXPECT_THAT(f.client.Read(2), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(f.client.Stats().placeholders(), 0);
  EXPECT_EQ(f.client.Stats().simulated_peak_bytes(), 16) << "Filling replaces; it does not add.";
  // The buffer is not a placeholder any more.
  EXPECT_EQ(f.client.Fails(fill).kind, ErrorKind::kArgument);
}

TEST(Placeholder, FilledByAnExecuteKeepsItsHandle) {
  Fixture f;
  f.client.Send(f.client.PlaceholderOf(2));
  f.client.Send(f.client.UploadOf({1, 2, 3, 4}, 3));
  v1::Command execute = f.client.ExecuteOf(1, {3, 3}, {2});
  execute.mutable_execute()->add_fills(0);
  f.client.Send(execute);
  EXPECT_THAT(f.client.Read(2), ElementsAre(2, 4, 6, 8));
}

TEST(Placeholder, OfAnotherShapeIsNotFilled) {
  Fixture f;
  f.client.Send(f.client.PlaceholderOf(2, hlo::Shape::Array(hlo::kF32, {5})));
  v1::Command fill = f.client.UploadOf({1, 2, 3, 4}, 2);
  fill.mutable_upload()->set_fill(true);
  EXPECT_THAT(f.client.Fails(fill).text, AllOf(HasSubstr("f32[5]"), HasSubstr("f32[4]")));
  EXPECT_EQ(f.client.Fails(f.client.DownloadOf(2)).kind, ErrorKind::kPlaceholder) << "It still is one.";
}

TEST(AbstractExecute, ComputesWhatDependsOnNoPlaceholder) {
  Fixture f;
  f.client.Send(f.client.CompileOf(2, device::SeparateProgram()));
  f.client.Send(f.client.UploadOf({1, 2, 3, 4}, 3));
  f.client.Send(f.client.PlaceholderOf(4));
  v1::Command execute = f.client.ExecuteOf(2, {3, 4}, {5, 6});
  execute.mutable_execute()->set_abstract(true);
  EXPECT_FALSE(f.client.Do(execute).has_error());
  EXPECT_THAT(f.client.Read(5), ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(f.client.Fails(f.client.DownloadOf(6)).kind, ErrorKind::kPlaceholder);
}

TEST(AbstractExecute, ChargesTheSimulatedLedgerOnly) {
  Fixture f;
  f.client.Send(f.client.PlaceholderOf(2));
  f.client.Send(f.client.PlaceholderOf(3));
  v1::Command execute = f.client.ExecuteOf(1, {2, 3}, {4});
  execute.mutable_execute()->set_abstract(true);
  f.client.Do(execute);
  const v1::SessionStats stats = f.client.Stats();
  EXPECT_EQ(stats.simulated_live_bytes(), 48);
  EXPECT_EQ(stats.peak_bytes(), 0);
  EXPECT_EQ(f.daemon.used_bytes(), 0);
  f.client.Do(f.client.FreeOf({2, 3, 4}));
  EXPECT_EQ(f.client.Stats().simulated_live_bytes(), 0);
}

TEST(Donation, ConsumesWhatAnExecuteThatStartedWasGiven) {
  Fixture f;
  f.client.Send(f.client.CompileOf(2, device::DoubleInPlaceProgram()));
  f.client.Send(f.client.UploadOf({1, 2, 3, 4}, 3));
  v1::Command execute = f.client.At(f.used, f.client.ExecuteOf(2, {3}, {4}));
  execute.mutable_execute()->add_donated(0);
  const uint64_t id = f.client.Send(execute);
  EXPECT_THAT(f.client.Read(4), ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(f.daemon.used_bytes(), 16) << "The result lies where the argument lay.";
  const ErrorDetails error = f.client.Fails(f.client.DownloadOf(3));
  EXPECT_EQ(error.kind, ErrorKind::kDonated);
  EXPECT_THAT(error.text, AllOf(HasSubstr("command " + std::to_string(id)), HasSubstr("train.cc:41")));
  EXPECT_EQ(f.client.Fails(f.client.FreeOf({3})).kind, ErrorKind::kDonated);
  EXPECT_EQ(f.client.Stats().device_to_device().calls(), 0);
}

TEST(Donation, SurvivesAnExecuteThatWasRefused) {
  Fixture f;
  f.client.Send(f.client.UploadOf({1, 2, 3, 4}, 2));
  f.client.Send(f.client.PlaceholderOf(3));
  v1::Command execute = f.client.ExecuteOf(1, {2, 3}, {4});
  execute.mutable_execute()->add_donated(0);
  EXPECT_EQ(f.client.Fails(execute).kind, ErrorKind::kPlaceholder);
  EXPECT_THAT(f.client.Read(2), ElementsAre(1, 2, 3, 4));
}

TEST(Donation, AnAliasThatIsNotGivenIsCopied) {
  Fixture f;
  f.client.Send(f.client.CompileOf(2, device::DoubleInPlaceProgram()));
  f.client.Send(f.client.UploadOf({1, 2, 3, 4}, 3));
  f.client.Send(f.client.ExecuteOf(2, {3}, {4}));
  EXPECT_THAT(f.client.Read(4), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(f.client.Read(3), ElementsAre(1, 2, 3, 4));
  const v1::SessionStats stats = f.client.Stats();
  EXPECT_EQ(stats.device_to_device().bytes(), 16);
  EXPECT_EQ(stats.device_to_device().calls(), 1);
}

TEST(Donation, TwiceIsRefused) {
  Fixture f;
  f.client.Send(f.client.UploadOf({1, 2, 3, 4}, 2));
  v1::Command execute = f.client.ExecuteOf(1, {2, 2}, {3});
  execute.mutable_execute()->add_donated(0);
  execute.mutable_execute()->add_donated(1);
  EXPECT_EQ(f.client.Fails(execute).kind, ErrorKind::kArgument);
  EXPECT_THAT(f.client.Read(2), ElementsAre(1, 2, 3, 4));
}

TEST(Donation, WaitsForThoseWhoReadBefore) {
  Fixture f;
  f.client.Send(f.client.CompileOf(2, device::DoubleInPlaceProgram()));
  f.client.Send(f.client.UploadOf({1, 2, 3, 4}, 3));
  const uint64_t late = f.client.Send(f.client.StreamUploadOf(4));
  f.client.Send(f.client.ExecuteOf(1, {3, 4}, {5}));  // Reads 3 once 4 has arrived.
  v1::Command execute = f.client.ExecuteOf(2, {3}, {6});
  execute.mutable_execute()->add_donated(0);
  f.client.Send(execute);
  const uint64_t after = f.client.Send(f.client.DownloadOf(3));
  device::SessionDevice& session_device = f.client.machine()->session_device();
  const device::UploadPart part = session_device.uploads().Claim(late).value();
  std::memcpy(part.target.data(), Client::Bytes({10, 20, 30, 40}).data(), 16);
  EXPECT_TRUE(session_device.uploads().AddReceived(late, part.generation, 16));
  EXPECT_THAT(f.client.Read(5), ElementsAre(11, 22, 33, 44));
  EXPECT_THAT(f.client.Read(6), ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(f.client.ErrorOfReply(f.client.Await(after)).kind, ErrorKind::kDonated);
}

TEST(Free, TwiceNamesTheFirst) {
  Fixture f;
  f.client.Send(f.client.UploadOf({1, 2, 3, 4}, 2));
  const uint64_t id = f.client.Send(f.client.At(f.used, f.client.FreeOf({2})));
  const ErrorDetails error = f.client.Fails(f.client.FreeOf({2}));
  EXPECT_EQ(error.kind, ErrorKind::kDeleted);
  EXPECT_THAT(error.text, AllOf(HasSubstr("command " + std::to_string(id)), HasSubstr("train.cc:41")));
  EXPECT_EQ(f.client.Fails(f.client.DownloadOf(2)).kind, ErrorKind::kDeleted);
}

TEST(Free, WorkThatWasSentBeforeStillRuns) {
  Fixture f;
  f.client.Send(f.client.UploadOf({1, 2, 3, 4}, 2));
  f.client.Send(f.client.ExecuteOf(1, {2, 2}, {3}));
  f.client.Send(f.client.FreeOf({1, 2}));
  EXPECT_THAT(f.client.Read(3), ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(f.daemon.used_bytes(), 16);
}

TEST(Poison, KeepsTheRootCauseThroughAChain) {
  Fixture f;
  const uint64_t compile =
      f.client.Send(f.client.At(f.made, f.client.CompileOf(2, device::ProgramOf(R"(HloModule jit_step
ENTRY main {
  ROOT a = f32[4] custom-call(), custom_call_target="NoSuchThing"
}
)"))));
  f.client.Send(f.client.ExecuteOf(2, {}, {3}));
  f.client.Send(f.client.ExecuteOf(1, {3, 3}, {4}));
  const ErrorDetails error = f.client.Fails(f.client.DownloadOf(4));
  EXPECT_THAT(error.text, AllOf(HasSubstr("compile of \"jit_step\" failed: "),
                                HasSubstr("(command " + std::to_string(compile) + ", model.cc:8)")));
  EXPECT_EQ(error.root_command, compile);
  EXPECT_EQ(error.kind, ErrorKind::kUnimplemented);
  EXPECT_EQ(f.client.ErrorOfReply(f.client.Await(compile)).root_command, compile);
}

TEST(Arguments, AreCheckedByCountShapeTypeAndDevice) {
  Fixture f({}, 64 << 20, 2);
  f.client.Send(f.client.UploadOf({1, 2, 3, 4}, 2));
  f.client.Send(f.client.UploadOf({1, 2, 3, 4, 5}, 3, hlo::Shape::Array(hlo::kF32, {5})));
  f.client.Send(f.client.UploadOf({1, 2, 3, 4}, 4, hlo::Shape::Array(hlo::kS32, {4})));
  v1::Command other = f.client.UploadOf({1, 2, 3, 4}, 5);
  other.mutable_upload()->set_device(1);
  f.client.Send(other);
  uint64_t result = 10;
  const auto fails = [&](std::vector<uint64_t> arguments, std::vector<uint64_t> results) {
    const ErrorDetails error = f.client.Fails(f.client.ExecuteOf(1, arguments, results));
    EXPECT_EQ(error.kind, ErrorKind::kArgument);
    return error.text;
  };
  EXPECT_THAT(fails({2}, {result++}), HasSubstr("takes 2 arguments; 1 are given"));
  EXPECT_THAT(fails({2, 3}, {result++}),
              AllOf(HasSubstr("parameter 1 \"b\""), HasSubstr("f32[4]"), HasSubstr("f32[5]")));
  EXPECT_THAT(fails({2, 4}, {result++}), HasSubstr("s32[4]"));
  EXPECT_THAT(fails({2, 5}, {result++}), HasSubstr("is on device 1"));
  EXPECT_THAT(fails({2, 2}, {}), HasSubstr("gives 1 results; 0 are named"));
  EXPECT_THAT(fails({2, 1}, {result++}), HasSubstr("names an executable"));
  const ErrorDetails unknown = f.client.Fails(f.client.ExecuteOf(2, {}, {result++}));
  EXPECT_THAT(unknown.text, HasSubstr("names a buffer"));
}

TEST(Memory, OutOfItNamesWhatIsWantedFreeAndLargest) {
  Fixture f({}, /*device_bytes=*/40);
  f.client.Send(f.client.At(f.made, f.client.UploadOf({1, 2, 3, 4}, 2)));
  f.client.Send(f.client.UploadOf({1, 2, 3, 4}, 3));
  const ErrorDetails error = f.client.Fails(f.client.UploadOf({1, 2, 3, 4}, 4));
  EXPECT_EQ(error.kind, ErrorKind::kNoMemory);
  EXPECT_EQ(error.code, absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(error.text, AllOf(HasSubstr("16 bytes are wanted, 8 of 40 are free"),
                                HasSubstr("handle 2, f32[4], 16 bytes (model.cc:8)")));
  EXPECT_EQ(f.client.Fails(f.client.ExecuteOf(1, {2, 3}, {5})).kind, ErrorKind::kNoMemory);
  f.client.Send(f.client.FreeOf({3}));
  EXPECT_FALSE(f.client.Do(f.client.UploadOf({1, 2, 3, 4}, 6)).has_error()) << "It recovers.";
}

TEST(Memory, AShapeOfImpossibleSizeIsRefusedBeforeAnything) {
  Fixture f;
  v1::Command command = f.client.PlaceholderOf(2, hlo::Shape::Array(hlo::kF32, {int64_t{1} << 60}));
  EXPECT_EQ(f.client.Fails(command).kind, ErrorKind::kLimit);
  command = f.client.StreamUploadOf(3);
  *command.mutable_upload()->mutable_shape() = hlo::ToProto(hlo::Shape::Array(hlo::kU8, {int64_t{1} << 62}));
  command.mutable_upload()->set_bytes(uint64_t{1} << 62);
  EXPECT_EQ(f.client.Fails(command).kind, ErrorKind::kLimit);
  command = f.client.UploadOf({1, 2, 3, 4}, 4);
  command.mutable_upload()->set_bytes(17);
  EXPECT_EQ(f.client.Fails(command).kind, ErrorKind::kArgument) << "Said twice, and not the same.";
  EXPECT_EQ(f.daemon.used_bytes(), 0);
}

TEST(Upload, WhoseBytesDoNotComePoisonsWhoWaits) {
  Fixture f;
  const uint64_t upload = f.client.Send(f.client.At(f.made, f.client.StreamUploadOf(2)));
  const uint64_t execute = f.client.Send(f.client.ExecuteOf(1, {2, 2}, {3}));
  f.daemon.clock.Advance(absl::Seconds(29));
  f.daemon.registry->Tick();
  f.client.Do(f.client.PingOf(/*at_once=*/true));
  EXPECT_FALSE(f.client.replies.contains(execute));
  f.daemon.clock.Advance(absl::Seconds(2));
  f.daemon.registry->Tick();
  const ErrorDetails error = f.client.ErrorOfReply(f.client.Await(execute));
  EXPECT_EQ(error.kind, ErrorKind::kPending);
  EXPECT_EQ(error.root_command, upload);
  EXPECT_THAT(error.text, AllOf(HasSubstr("upload of f32[4] failed"), HasSubstr("model.cc:8")));
  EXPECT_EQ(f.daemon.used_bytes(), 0);
}

TEST(Upload, AStaleTransferIsStopped) {
  Fixture f;
  const uint64_t id = f.client.Send(f.client.StreamUploadOf(2));
  device::SessionDevice& session_device = f.client.machine()->session_device();
  const device::UploadPart first = session_device.uploads().Claim(id).value();
  EXPECT_TRUE(session_device.uploads().AddReceived(id, first.generation, 8));
  const device::UploadPart second = session_device.uploads().Claim(id).value();
  EXPECT_FALSE(session_device.uploads().Owns(first));
  EXPECT_FALSE(session_device.uploads().AddReceived(id, first.generation, 8));
  std::memcpy(second.target.data(), Client::Bytes({1, 2, 3, 4}).data(), 16);
  EXPECT_TRUE(session_device.uploads().AddReceived(id, second.generation, 16));
  EXPECT_THAT(f.client.Read(2), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(f.client.Stats().aborted_bytes(), 8);
  EXPECT_EQ(f.client.Stats().host_to_device().bytes(), 16) << "Counted once.";
}

TEST(Arena, PiecesComeInOrderWithinBounds) {
  Fixture f;
  int fd = -1;
  const absl::Span<std::byte> arena = f.client.machine()->transfers().MapArena(&fd).value();
  const std::string bytes = Client::Bytes({1, 2, 3, 4});
  std::memcpy(arena.data() + 100, bytes.data(), bytes.size());
  v1::Command upload = f.client.StreamUploadOf(2);
  upload.mutable_upload()->set_arena(true);
  const uint64_t id = f.client.Send(upload);
  const auto piece = [&](uint64_t from, uint64_t to, uint64_t length) {
    v1::Command command;
    command.mutable_upload_piece()->set_upload(id);
    command.mutable_upload_piece()->set_arena_offset(from);
    command.mutable_upload_piece()->set_buffer_offset(to);
    command.mutable_upload_piece()->set_length(length);
    return f.client.Do(command).has_error();
  };
  EXPECT_TRUE(piece(100, 4, 4)) << "Not the next one.";
  EXPECT_TRUE(piece(arena.size() - 2, 0, 4)) << "Beyond the arena.";
  EXPECT_TRUE(piece(UINT64_MAX, 0, 4)) << "Around the end of the numbers.";
  EXPECT_TRUE(piece(100, 0, 17)) << "More than the upload.";
  EXPECT_FALSE(piece(100, 0, 8));
  EXPECT_FALSE(piece(108, 8, 8));
  EXPECT_THAT(f.client.Read(2), ElementsAre(1, 2, 3, 4));
  v1::Command download = f.client.DownloadOf(2);
  download.mutable_download()->mutable_arena()->set_offset(4096);
  download.mutable_download()->mutable_arena()->set_length(16);
  EXPECT_TRUE(f.client.Do(download).download().arena());
  EXPECT_EQ(std::memcmp(arena.data() + 4096, bytes.data(), bytes.size()), 0);
  download.mutable_download()->mutable_arena()->set_offset(arena.size() - 8);
  EXPECT_EQ(f.client.Fails(download).kind, ErrorKind::kArgument);
}

TEST(Execute, ThatNeverEndsMeetsItsDeadline) {
  Fixture f;
  f.client.Send(f.client.CompileOf(2, device::LoopProgram()));
  v1::Command execute = f.client.ExecuteOf(2, {0}, {3});
  v1::InlineLiteral& literal = *execute.mutable_execute()->add_literals();
  *literal.mutable_shape() = Client::Shape(hlo::Shape::Scalar(hlo::kS64));
  literal.set_data(std::string(8, '\xff'));  // Counting down from -1 never reaches 0.
  execute.mutable_execute()->set_deadline_us(50'000);
  const ErrorDetails error = f.client.Fails(execute);
  EXPECT_EQ(error.kind, ErrorKind::kDeadline);
  EXPECT_EQ(f.client.Fails(f.client.DownloadOf(3)).kind, ErrorKind::kDeadline);
}

TEST(Execute, IsCancelledWhileItRunsAndWhileItWaits) {
  Fixture f;
  f.client.Send(f.client.CompileOf(2, device::LoopProgram()));
  v1::Command execute = f.client.ExecuteOf(2, {0}, {3});
  v1::InlineLiteral& literal = *execute.mutable_execute()->add_literals();
  *literal.mutable_shape() = Client::Shape(hlo::Shape::Scalar(hlo::kS64));
  literal.set_data(std::string(8, '\xff'));
  // The run may be on this very thread, because its estimate is that of one iteration.
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(100));  // tidy: an endless loop announces nothing.
    f.client.machine()->session_device().Cancel(f.client.last_command);
  });
  const uint64_t running = f.client.Send(execute);
  EXPECT_EQ(f.client.ErrorOfReply(f.client.Await(running)).kind, ErrorKind::kCancelled);
  canceller.join();
  f.client.Send(f.client.StreamUploadOf(4));
  const uint64_t waiting = f.client.Send(f.client.ExecuteOf(1, {4, 4}, {5}));
  v1::ClientMessage cancel;
  cancel.mutable_cancel()->set_command(waiting);
  f.client.SendRaw(cancel);
  EXPECT_EQ(f.client.ErrorOfReply(f.client.Await(waiting)).kind, ErrorKind::kCancelled);
}

}  // namespace
}  // namespace hlod::session
