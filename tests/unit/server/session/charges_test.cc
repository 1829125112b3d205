// For each limit, the memory that a client can make the daemon hold is charged to the session's user before
// it is held, and all charges end with the session. Sums are compared with sizes that the test computes
// itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "common/hlo/builder.h"
#include "tests/unit/server/session/pipe.h"

namespace hlod::session {
namespace {

using testing::HasSubstr;

// Makes the daemon hold memory under a limit. Returns a lower bound of the bytes.
using Hold = int64_t (*)(Client&);

int64_t HoldHandles(Client& client) {
  for (uint64_t handle = 1; handle <= 100; ++handle) client.Do(client.PlaceholderOf(handle));
  return 100 * static_cast<int64_t>(sizeof(device::Buffer));
}

int64_t HoldReasons(Client& client) {
  for (uint64_t handle = 1; handle <= 100; ++handle) {
    client.Do(client.PlaceholderOf(handle));
    client.Do(client.FreeOf({handle}));
  }
  return 100 * static_cast<int64_t>(sizeof(device::DeadReason));
}

// Sends commands that are held: a ping is answered after the upload before it, which waits for its bytes.
int64_t HoldCommands(Client& client) {
  client.Send(client.StreamUploadOf(1));
  for (int i = 0; i < 100; ++i) client.Send(client.PingOf());
  return 100 * SessionBudgets::kCommandBytes;
}

int64_t HoldReplies(Client& client) {
  client.Do(client.UploadOf(std::vector<float>(1000, 1), 1, hlo::Shape::Array(hlo::kF32, {1000})));
  for (int i = 0; i < 5; ++i) client.Do(client.DownloadOf(1));
  return 5 * 4000;
}

int64_t HoldProgramChunks(Client& client) {
  v1::Command compile, chunk;
  compile.mutable_compile()->set_executable(1);
  compile.mutable_compile()->set_module_bytes(1'000'000);
  client.Send(compile);
  chunk.mutable_program_chunk()->set_data(std::string(100'000, 'x'));
  client.Send(chunk);
  return 100'000;
}

int64_t HoldPrograms(Client& client) {
  client.Do(client.CompileOf(1, device::AddProgram()));
  return client.machine()->session_device().devices().executables().List().front()->held_bytes();
}

int64_t HoldLines(Client& client) {
  for (int i = 0; i < 100; ++i) client.Line(std::string(1000, 'f'), i);
  return 100 * 1000;
}

// Sends an execute that waits for an upload, with a number among its arguments.
int64_t HoldLiterals(Client& client) {
  client.Do(client.CompileOf(1, device::AddProgram()));
  client.Send(client.StreamUploadOf(2));
  int64_t bytes = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    v1::Command execute = client.ExecuteOf(1, {2, 0}, {3 + i});
    v1::InlineLiteral& literal = *execute.mutable_execute()->add_literals();
    *literal.mutable_shape() = Client::Shape(Client::F32x4());
    literal.set_data(Client::Bytes({1, 2, 3, 4}));
    client.Send(execute);
    bytes += static_cast<int64_t>(sizeof(hlo::Literal)) + 16;
  }
  return bytes;
}

int64_t HoldArena(Client& client) {
  int fd = -1;
  EXPECT_TRUE(client.machine()->transfers().MapArena(&fd).ok());
  return Limits{}.arena_bytes;
}

int64_t HoldChannelValues(Client& client) {
  client.Do(client.UploadOf({1, 2, 3, 4}, 1));
  for (int i = 0; i < 50; ++i) {
    v1::Command infeed;
    for (int array = 0; array < 10; ++array) infeed.mutable_infeed()->add_arguments(1);
    EXPECT_FALSE(client.Do(infeed).has_error());
  }
  return 50 * 10 * static_cast<int64_t>(sizeof(hlo::Shape) + sizeof(void*));
}

int64_t HoldSession(Client&) { return static_cast<int64_t>(sizeof(Session) + sizeof(device::SessionDevice)); }

// A limit with the function that fills it; without one, `why` says where the memory is charged instead.
struct Bounded {
  Hold hold;
  const char* why = "";
};
const std::map<std::string_view, Bounded>& Walk() {
  static const auto* const walk = new std::map<std::string_view, Bounded>{
      {"sessions_max", {HoldSession}},
      {"sessions_per_user_max", {HoldSession}},
      {"connections_per_user_max", {nullptr, "gRPC's quota of each connection (server/grpc/receive_quota.h)"}},
      {"handles_per_session_max", {HoldHandles}},
      {"commands_in_flight_max", {HoldCommands}},
      {"commands_per_message_max", {HoldCommands}},
      {"unacknowledged_bytes_max", {HoldReplies}},
      {"inline_bytes_max", {HoldLiterals}},
      {"prefetch_bytes_max", {HoldReplies}},
      {"chunk_bytes_max", {HoldProgramChunks}},
      {"program_bytes_max", {HoldProgramChunks}},
      {"instructions_max", {HoldPrograms}},
      {"executables_per_session_max", {HoldPrograms}},
      {"buffer_bytes_max", {nullptr, "the devices' memory, --host-memory"}},
      {"staging_bytes_max", {HoldProgramChunks}},
      {"arena_bytes", {HoldArena}},
      {"origins_per_session_max", {HoldLines}},
      {"session_bytes_max", {HoldLines}},
      {"reasons_kept", {HoldReasons}},
      {"upload_wait_us", {nullptr, "time"}},
      {"channel_wait_us", {nullptr, "time"}},
      {"channel_values_max", {HoldChannelValues}},
      {"grace_us", {nullptr, "time"}},
      {"execute_us_max", {nullptr, "time"}},
  };
  return *walk;
}

TEST(Charges, WhatEachLimitIsAboutIsChargedWhileItIsHeldAndNotAfterTheSession) {
  ForEachLimit([](std::string_view name, int64_t Limits::*, std::string_view) {
    SCOPED_TRACE(std::string(name));
    const auto row = Walk().find(name);
    ASSERT_NE(row, Walk().end()) << "Which of its functions holds what this limit bounds, and what is it "
                                    "charged to?";
    if (row->second.hold == nullptr) return;
    Daemon daemon(Limits{}, 64 << 20, 1, /*leases=*/false);
    const device::SideMemory& memory = daemon.devices->side_memory();
    ASSERT_EQ(memory.used_bytes(), 0);
    {
      Client client(daemon);
      const int64_t before = row->second.hold == HoldSession ? 0 : memory.used_bytes();
      const int64_t held = row->second.hold(client);
      EXPECT_GE(memory.used_bytes() - before, held);
      EXPECT_GT(held, 0);
    }
    EXPECT_TRUE(device::Eventually([&] {
      daemon.registry->Tick();
      return memory.used_bytes() == 0;
    })) << memory.used_bytes()
        << " bytes are charged to nobody that is there.";
  });
}

// An execute that waits for an upload keeps its arguments, also when the client frees these. (It would be
// refused later, because it has too many arguments.)
TEST(Charges, AFreedBufferIsChargedAsLongAsACommandKeepsIt) {
  Daemon daemon;
  const device::SideMemory& memory = daemon.devices->side_memory();
  Client client(daemon);
  client.Do(client.CompileOf(1, device::AddProgram()));
  const uint64_t upload = client.Send(client.StreamUploadOf(2));
  const int64_t before = memory.used_bytes();
  std::vector<uint64_t> arguments;
  for (uint64_t handle = 3; handle < 1003; ++handle) {
    client.Do(client.PlaceholderOf(handle));
    arguments.push_back(handle);
  }
  std::vector<uint64_t> with_upload = arguments;
  with_upload.push_back(2);
  client.Send(client.ExecuteOf(1, with_upload, {1003}));
  client.Do(client.FreeOf(arguments));
  constexpr auto kFreed = static_cast<int64_t>(1000 * (sizeof(device::Buffer) + sizeof(device::DeadReason)));
  EXPECT_GE(memory.used_bytes() - before, kFreed);
  device::SessionDevice& session_device = client.machine()->session_device();
  session_device.uploads().AddReceived(upload, session_device.uploads().Claim(upload)->generation, 16);
  EXPECT_TRUE(client.Do(client.PingOf()).has_pong());
  EXPECT_LT(memory.used_bytes() - before, kFreed) << "Nothing keeps them now.";
}

TEST(Charges, BeyondAUsersShareThingsAreRefusedByNameAndAnotherUserGoesOn) {
  Daemon daemon(Limits{}, 64 << 20, 1, /*leases=*/true, /*side_bytes=*/10'000'000);
  Client client(daemon, 0, "user 1"), other(daemon, 0, "user 2");
  client.Do(client.CompileOf(1, device::AddProgram()));
  const std::shared_ptr<device::MemoryShare> share = daemon.devices->side_memory().ShareOf("user 1");
  while (share->Reserve(1000, "The test").ok()) {  // Reserves all that a user may reserve.
  }
  const ErrorDetails refused = client.Fails(client.UploadOf({1, 2, 3, 4}, 2));
  EXPECT_EQ(refused.kind, ErrorKind::kLimit);
  EXPECT_THAT(refused.text, HasSubstr("side_memory is 10000000"));
  EXPECT_FALSE(other.Do(other.UploadOf({1, 2, 3, 4}, 1)).has_error());
  EXPECT_EQ(other.Read(1), (std::vector<float>{1, 2, 3, 4}));
  int fd = -1;
  EXPECT_EQ(KindOf(client.machine()->transfers().MapArena(&fd).status()), ErrorKind::kLimit);
  Client third(daemon, 0, "user 1");
  EXPECT_THAT(std::string(third.Ended().message()), HasSubstr("A session of"));
  share->Release(5'000'000);
  EXPECT_FALSE(client.Do(client.UploadOf({1, 2, 3, 4}, 3)).has_error()) << "There is room again.";
}

TEST(Charges, AModuleIsChargedWithWhatItTakesParsedBeforeItIsParsed) {
  Daemon daemon(Limits{}, 64 << 20, 1, /*leases=*/true, /*side_bytes=*/1'000'000);
  Client client(daemon);
  // After parsing, each instruction takes several times its bytes.
  hlo::Module module("long");
  hlo::Builder b(module, "main");
  auto x = b.Parameter(0, hlo::Shape::Array(hlo::kF32, {4}));
  for (int i = 0; i < 3000; ++i) x = x + x;
  ASSERT_TRUE(b.Build(x).ok());
  const std::string program = hlo::Serialize(module);
  ASSERT_LT(program.size(), 400'000u) << "The program itself would be refused.";
  const ErrorDetails refused = client.Fails(client.CompileOf(1, program));
  EXPECT_EQ(refused.kind, ErrorKind::kLimit);
  EXPECT_THAT(refused.text, HasSubstr("A program that is compiled of"));
  EXPECT_FALSE(client.Do(client.CompileOf(2, device::AddProgram())).has_error());
}

// Returns a function of 1024 sines, written as ten functions that each call the one below twice.
std::string FanOfSines() {
  std::string text = "HloModule fan\nf0 {\n x = f32[4] parameter(0)\n ROOT y = f32[4] sine(x)\n}\n";
  for (int level = 1; level <= 10; ++level) {
    const std::string below = absl::StrCat("), to_apply=f", level - 1, "\n");
    absl::StrAppend(&text, "f", level, " {\n x = f32[4] parameter(0)\n a = f32[4] call(x", below,
                    " ROOT b = f32[4] call(a", below, "}\n");
  }
  absl::StrAppend(&text, "ENTRY e {\n x = f32[4] parameter(0)\n ROOT y = f32[4] call(x), to_apply=f10\n}\n");
  return device::ProgramOf(text);
}

// A small module with calls becomes a large program: the memory for that is charged before it is taken.
TEST(Charges, ACompilationIsChargedWithWhatItsCallsBecome) {
  const std::string fan = FanOfSines();
  ASSERT_LT(fan.size(), 10'000u);
  Daemon daemon(Limits{}, 64 << 20, 1, /*leases=*/true, /*side_bytes=*/1'000'000);
  Client client(daemon, 0, "user 1"), other(daemon, 0, "user 2");
  const ErrorDetails refused = client.Fails(client.CompileOf(1, fan));
  EXPECT_EQ(refused.kind, ErrorKind::kLimit);
  EXPECT_THAT(refused.text, HasSubstr("Memory to compile a program of"));
  EXPECT_THAT(refused.text, HasSubstr("side_memory is 1000000"));
  EXPECT_FALSE(client.Do(client.CompileOf(2, device::AddProgram())).has_error());
  EXPECT_FALSE(other.Do(other.CompileOf(1, device::AddProgram())).has_error());
  Daemon large(Limits{}, 64 << 20, 1, /*leases=*/true, /*side_bytes=*/50'000'000);
  Client richer(large);
  EXPECT_FALSE(richer.Do(richer.CompileOf(1, fan)).has_error());
  EXPECT_LT(large.devices->side_memory().used_bytes(), 5'000'000)
      << "What it took to compile is charged still.";
}

TEST(Charges, WhoLeavesRefusalsUnacknowledgedWhileNothingIsFreeIsEnded) {
  Daemon daemon(Limits{}, 64 << 20, 1, /*leases=*/true, /*side_bytes=*/16'000'000);
  Client client(daemon, 0, "user 1"), other(daemon, 0, "user 2");
  const std::shared_ptr<device::MemoryShare> share = daemon.devices->side_memory().ShareOf("user 1");
  while (share->Reserve(10'000, "The test").ok()) {
  }
  while (share->Reserve(10, "The test").ok()) {
  }
  for (int i = 0; i < 20'000 && !client.ended(); ++i) client.Send(client.PingOf());
  EXPECT_EQ(KindOf(client.Ended()), ErrorKind::kLimit);
  const v1::Reply pong = other.Do(other.PingOf());
  EXPECT_TRUE(pong.has_pong()) << pong.error().text();
}

// A shape may have any number of elements that fits into a message; a failed handle does not keep it.
TEST(Charges, AFailedHandleDoesNotKeepATuple) {
  Daemon daemon;
  Client client(daemon);
  const hlo::Shape wide = hlo::Shape::Tuple(std::vector<hlo::Shape>(10'000, Client::F32x4()));
  EXPECT_EQ(client.Fails(client.PlaceholderOf(1, wide)).kind, ErrorKind::kArgument);
  const std::vector<device::BufferInfo> buffers = client.machine()->session_device().ListBuffers();
  ASSERT_EQ(buffers.size(), 1u);
  EXPECT_TRUE(buffers[0].shape.tuple.empty());
}

}  // namespace
}  // namespace hlod::session
