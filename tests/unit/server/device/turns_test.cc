// One session's long work beside another's short work: who waits for whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/cleanup/cleanup.h"
#include "absl/synchronization/blocking_counter.h"
#include "common/base/errors/error.h"
#include "common/hlo/proto/wire_count.h"
#include "server/device/programs/session_assembly.h"
#include "server/engine/assemble/assembler.h"
#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Returns a program that counts down from a number and returns ten million zeros: 40 MB, which it holds while
// it runs.
std::string LargeLoopProgram() {
  return WithCountDown("large_spin", R"(ENTRY main {
  n = s64[] parameter(0)
  w = s64[] while(n), condition=cond, body=body
  zero = f32[] constant(0)
  zeros = f32[10000000] broadcast(zero), dimensions={}
  ROOT t = (s64[], f32[10000000]) tuple(w, zeros)
}
)");
}

// Returns a program whose large result does not depend on an argument while its small one does.
std::string LargeAndDoubleProgram() {
  return ProgramOf(R"(HloModule large_and_double
ENTRY main {
  a = f32[4] parameter(0)
  zero = f32[] constant(0)
  zeros = f32[10000000] broadcast(zero), dimensions={}
  b = f32[4] add(a, a)
  ROOT t = (f32[10000000], f32[4]) tuple(zeros, b)
}
)");
}

// Returns a program of one fused step, whose operations depend on `number`, up to 511.
std::string ChainProgram(int number) {
  std::string text = "HloModule chain\nENTRY main {\n  v0 = f32[] parameter(0)\n";
  for (int bit = 0; bit < 9; ++bit) {
    absl::StrAppend(&text, "  v", bit + 1, " = f32[] ", (number >> bit & 1) != 0 ? "add" : "multiply", "(v",
                    bit, ", v0)\n");
  }
  return ProgramOf(text + "  ROOT r = f32[] negate(v9)\n}\n");
}

class Turns : public testing::Test {
 protected:
  // Returns an execute of a loop that counts down from `count`; from -1 it does not end.
  static ExecuteRequest LoopOf(TestSession& session, const std::vector<Handle>& results, int64_t count) {
    ExecuteRequest request = session.ExecuteOf(1, {}, results);
    request.arguments.emplace_back().literal =
        std::make_unique<hlo::Literal>(hlo::Literal::Scalar<int64_t>(count));
    return request;
  }

  FakeClock clock;
  std::unique_ptr<Devices> devices = MakeDevices(clock);
  TestSession hog{*devices, 1}, bystander{*devices, 2};
};

TEST_F(Turns, ATrivialProgramDoesNotWaitForAnotherSessionsEndlessOne) {
  ASSERT_TRUE(hog.Await(hog.Compile(1, LoopProgram())).ok());
  ASSERT_TRUE(bystander.Await(bystander.Compile(1, AddProgram())).ok());
  const uint64_t endless = hog.Execute(LoopOf(hog, {2}, -1));
  bystander.Upload(2, {1, 2, 3, 4});
  for (Handle result = 3; result < 20; ++result) {
    ASSERT_TRUE(bystander.Await(bystander.Execute(bystander.ExecuteOf(1, {2, 2}, {result}))).ok());
    EXPECT_THAT(*bystander.Read(result), ElementsAre(2, 4, 6, 8));
  }
  EXPECT_FALSE(hog.AnswerTo(endless).has_value());
  hog.session_device->Cancel(endless);
  EXPECT_EQ(KindOf(hog.Await(endless)), ErrorKind::kCancelled);
}

TEST_F(Turns, AnExecuteIsNotRefusedForMemoryThatAnotherHoldsBesideIt) {
  ASSERT_TRUE(hog.Await(hog.Compile(1, LargeLoopProgram())).ok());
  ASSERT_TRUE(bystander.Await(bystander.Compile(1, LargeLoopProgram())).ok());
  const uint64_t endless = hog.Execute(LoopOf(hog, {2, 3}, -1));
  const uint64_t waits = bystander.Execute(LoopOf(bystander, {2, 3}, 1));
  // Long enough for the daemon to try to run it beside the other.
  absl::SleepFor(absl::Milliseconds(300));  // tidy: nothing must happen.
  EXPECT_FALSE(bystander.AnswerTo(waits).has_value());
  hog.session_device->Cancel(endless);
  EXPECT_EQ(KindOf(hog.Await(endless)), ErrorKind::kCancelled);
  EXPECT_TRUE(bystander.Await(waits).ok()) << *bystander.AnswerTo(waits);
  // An execute is refused when the device does not have that much memory at all.
  EXPECT_EQ(KindOf(bystander.Await(bystander.Execute(LoopOf(bystander, {4, 5}, 1)))), ErrorKind::kNoMemory);
}

TEST_F(Turns, NorIsAnAbstractOne) {
  ASSERT_TRUE(hog.Await(hog.Compile(1, LargeLoopProgram())).ok());
  ASSERT_TRUE(bystander.Await(bystander.Compile(1, LargeAndDoubleProgram())).ok());
  const uint64_t endless = hog.Execute(LoopOf(hog, {2, 3}, -1));
  bystander.Placeholder(2);
  const auto abstract_execute = [&](Handle first) {
    ExecuteRequest request = bystander.ExecuteOf(1, {2}, {first, first + 1});
    request.abstract = true;
    return bystander.Execute(std::move(request));
  };
  const uint64_t waits = abstract_execute(3);
  // Long enough for the daemon to try to run it beside the other.
  absl::SleepFor(absl::Milliseconds(300));  // tidy: nothing must happen.
  EXPECT_FALSE(bystander.AnswerTo(waits).has_value());
  hog.session_device->Cancel(endless);
  EXPECT_EQ(KindOf(hog.Await(endless)), ErrorKind::kCancelled);
  EXPECT_TRUE(bystander.Await(waits).ok()) << *bystander.AnswerTo(waits);
  const ErrorDetails refused = ErrorOf(bystander.Await(abstract_execute(5)));
  EXPECT_EQ(refused.kind, ErrorKind::kNoMemory) << refused.text;
  EXPECT_EQ(refused.handle, 5u) << "What there is no memory for.";
  EXPECT_EQ(refused.shape, "f32[10000000]");
}

TEST_F(Turns, ACompileThatIsCancelledIsAnsweredAtOnce) {
  const auto compilers_go_on = std::make_shared<absl::Notification>();
  const auto compilers_wait = std::make_shared<absl::BlockingCounter>(2);
  absl::Cleanup go_on = [compilers_go_on] { compilers_go_on->Notify(); };
  for (int i = 0; i < 2; ++i) {
    devices->executables().Run(2, [compilers_go_on, compilers_wait] {
      compilers_wait->DecrementCount();
      compilers_go_on->WaitForNotification();
    });
  }
  compilers_wait->Wait();
  const uint64_t compile = hog.Compile(1, LoopProgram());
  const uint64_t execute = hog.Execute(LoopOf(hog, {2}, 1));
  hog.session_device->Cancel(compile);
  ASSERT_TRUE(hog.AnswerTo(compile).has_value());
  EXPECT_EQ(KindOf(*hog.AnswerTo(compile)), ErrorKind::kCancelled);
  EXPECT_EQ(KindOf(hog.Await(execute)), ErrorKind::kCancelled) << "What it was to run.";
  std::move(go_on).Invoke();
  EXPECT_TRUE(Eventually([&] { return devices->executables().queued() == 0; }));
  EXPECT_EQ(devices->executables().Find(Sha256(LoopProgram())), nullptr);
}

TEST(AssemblyTurns, AUserWithManyProgramsDoesNotHoldUpAnother) {
  if (!engine::Assembler::Supported()) GTEST_SKIP() << "This processor has no AVX2.";
  FakeClock clock;
  Devices::Options options;
  options.device_bytes = options.host_bytes = 64 << 20;
  options.threads = 1;
  options.assembler = engine::MakeAssembler(engine::Assembling::kSecondRun);
  const std::unique_ptr<Devices> devices = Devices::Create(options, clock).value();
  // The assembler is busy until all have asked for it.
  const auto asked = std::make_shared<absl::Notification>();
  absl::Cleanup go = [asked] { asked->Notify(); };
  devices->AssemblyOf(3, "third")->Submit([asked] { asked->WaitForNotification(); });
  TestSession hog(*devices, 1);
  constexpr int kPrograms = 300;
  Handle handle = 0;
  for (int program = 0; program < kPrograms; ++program) {
    const Handle executable = ++handle;
    hog.Compile(executable, ChainProgram(program));
    for (int run = 0; run < 2; ++run) {
      ExecuteRequest request = hog.ExecuteOf(executable, {}, {++handle});
      request.arguments.emplace_back().literal =
          std::make_unique<hlo::Literal>(hlo::Literal::Scalar<float>(1));
      hog.Execute(std::move(request));
    }
  }
  for (uint64_t command = 1; command <= hog.last_command; ++command) ASSERT_TRUE(hog.Await(command).ok());
  const auto assembled = [&] {
    int64_t kernels = 0;
    for (const auto& program : devices->executables().List()) kernels += program->plan().kernels();
    return kernels;
  };
  const auto bystander = devices->AssemblyOf(2, "bystander");
  absl::Notification turn;
  int64_t before = -1;
  bystander->Submit([&] {
    before = assembled();
    turn.Notify();
  });
  EXPECT_EQ(assembled(), 0);
  std::move(go).Invoke();
  turn.WaitForNotification();
  EXPECT_LE(before, 2) << "The programs of the other that came first.";
  EXPECT_TRUE(Eventually([&] { return assembled() == kPrograms; }));
}

TEST(AssemblyTurns, AUserHasAShareOfTheMemoryForCode) {
  FakeClock clock;
  Devices::Options options;
  options.device_bytes = options.host_bytes = 64 << 20;
  options.assembler =
      std::make_shared<engine::Assembler>(engine::Assembler::Options{.code_bytes_max = 1 << 20});
  const std::unique_ptr<Devices> devices = Devices::Create(options, clock).value();
  const auto hog = devices->AssemblyOf(1, "hog"), hogs_other = devices->AssemblyOf(2, "hog"),
             bystander = devices->AssemblyOf(3, "bystander");
  int64_t taken = 0;
  for (engine::AssemblyUser* const session : {hog.get(), hogs_other.get()}) {
    while (session->Reserve(1024)) taken += 1024;
  }
  EXPECT_LE(taken, 3 << 18);
  EXPECT_TRUE(bystander->Reserve(100 << 10));
  bystander->Release(100 << 10);
}

TEST(AssemblyTurns, CodeThatIsMadeWithThePlanTakesTheUsersShare) {
  if (!engine::Assembler::Supported()) GTEST_SKIP() << "This processor has no AVX2.";
  FakeClock clock;
  Devices::Options options;
  options.device_bytes = options.host_bytes = 64 << 20;
  options.assembler = std::make_shared<engine::Assembler>(
      engine::Assembler::Options{.code_bytes_max = 1 << 20, .at_once = true});
  const std::unique_ptr<Devices> devices = Devices::Create(options, clock).value();
  const auto rich = devices->AssemblyOf(1, "rich"), poor = devices->AssemblyOf(2, "poor");
  while (poor->Reserve(1024)) {
  }
  const auto kernels_of = [&](uint64_t session, const std::string& opcode,
                              const std::shared_ptr<engine::AssemblyUser>& user) {
    const std::string program = ProgramOf(
        "HloModule m\nENTRY main {\n a = f32[300] parameter(0)\n ROOT c = f32[300] " + opcode + "(a)\n}\n");
    absl::Notification done;
    int64_t kernels = -1;
    (void)devices->executables().Compile(
        session, program,
        [&](absl::StatusOr<ExecutableCache::Compiled> compiled) {
          if (compiled.ok()) kernels = compiled->executable->plan().kernels();
          done.Notify();
        },
        /*share=*/nullptr, user);
    done.WaitForNotification();
    return kernels;
  };
  EXPECT_EQ(kernels_of(1, "exponential", rich), 1);
  EXPECT_EQ(kernels_of(2, "tanh", poor), 0);
}

TEST(AssemblyTurns, AUserHasABoundOnTheProgramsThatWait) {
  FakeClock clock;
  Devices::Options options;
  options.device_bytes = options.host_bytes = 64 << 20;
  options.assembler = std::make_shared<engine::Assembler>(engine::Assembler::Options{});
  const std::unique_ptr<Devices> devices = Devices::Create(options, clock).value();
  const auto user = devices->AssemblyOf(1, "user"), other = devices->AssemblyOf(2, "other");
  absl::Notification go;
  std::atomic<int64_t> done{0};
  user->Submit([&] { go.WaitForNotification(); });
  for (int i = 0; i < 5000; ++i) user->Submit([&] { ++done; });
  other->Submit([&] { ++done; });
  go.Notify();
  EXPECT_TRUE(Eventually([&] { return done == SessionAssembly::kWaitingMax; }));
  EXPECT_EQ(done, SessionAssembly::kWaitingMax) << "One of them is the other's.";
}

// Compiles whose callbacks block the compile threads.
class CompileTurns : public testing::Test {
 protected:
  static std::string Program(int number) {
    return ProgramOf(absl::StrFormat(R"(HloModule m%d
ENTRY main {
  a = f32[%d] parameter(0)
  ROOT c = f32[%d] add(a, a)
}
)",
                                     number, number + 1, number + 1));
  }
  ~CompileTurns() override { Release(); }
  void Release() {
    if (!gate_.HasBeenNotified()) gate_.Notify();
  }
  void Compile(ExecutableCache& cache, uint64_t session, int number) {
    cache.Compile(session, Program(number), [](const absl::StatusOr<ExecutableCache::Compiled>&) {});
  }
  // Returns when session 1 blocks both threads.
  void Hold(ExecutableCache& cache) {
    for (int number = 0; number < 2; ++number) {
      cache.Compile(1, Program(number), [this](const absl::StatusOr<ExecutableCache::Compiled>&) {
        ++held_;
        gate_.WaitForNotification();
      });
    }
    ASSERT_TRUE(Eventually([this] { return held_ == 2; }));
  }

  absl::Notification gate_;
  std::atomic<int> held_{0};
};

TEST_F(CompileTurns, ASmallProgramDoesNotWaitForAnotherSessionsCompiles) {
  ExecutableCache cache({});
  Hold(cache);
  for (int number = 2; number < 100; ++number) Compile(cache, 1, number);
  absl::Notification compiled;
  cache.Compile(2, Program(100), [&](const absl::StatusOr<ExecutableCache::Compiled>& c) {
    EXPECT_TRUE(c.ok()) << c.status();
    compiled.Notify();
  });
  EXPECT_TRUE(compiled.WaitForNotificationWithTimeout(absl::Seconds(60)));
  EXPECT_EQ(cache.Find(Sha256(Program(2))), nullptr);
  Release();
}

TEST_F(CompileTurns, AnEndedSessionsProgramsAreNotCompiledUnlessAnotherWaitsForThem) {
  ExecutableCache cache({});
  Hold(cache);
  for (int number = 2; number < 6; ++number) {
    cache.Compile(1, Program(number), [](const absl::StatusOr<ExecutableCache::Compiled>&) {
      ADD_FAILURE() << "A session that has ended is answered.";
    });
  }
  cache.Discard(1);
  absl::Notification compiled;
  cache.Compile(2, Program(3), [&](const absl::StatusOr<ExecutableCache::Compiled>& c) {
    EXPECT_TRUE(c.ok()) << c.status();
    compiled.Notify();
  });
  EXPECT_TRUE(compiled.WaitForNotificationWithTimeout(absl::Seconds(60)));
  Release();
  EXPECT_TRUE(Eventually([&] { return cache.queued() == 0; }));
  EXPECT_EQ(cache.Find(Sha256(Program(2))), nullptr);
  EXPECT_NE(cache.Find(Sha256(Program(3))), nullptr);
}

TEST_F(CompileTurns, ACancelledRequestIsNotCompiledUnlessAnotherWaitsForIt) {
  ExecutableCache cache({});
  Hold(cache);
  const auto fail = [](const absl::StatusOr<ExecutableCache::Compiled>&) {
    ADD_FAILURE() << "A cancelled request is answered.";
  };
  for (int number = 2; number < 4; ++number) cache.Cancel(cache.Compile(1, Program(number), fail));
  absl::Notification compiled;
  cache.Compile(2, Program(3), [&](const absl::StatusOr<ExecutableCache::Compiled>& c) {
    EXPECT_TRUE(c.ok()) << c.status();
    compiled.Notify();
  });
  EXPECT_TRUE(compiled.WaitForNotificationWithTimeout(absl::Seconds(60)));
  Release();
  EXPECT_TRUE(Eventually([&] { return cache.queued() == 0; }));
  EXPECT_EQ(cache.Find(Sha256(Program(2))), nullptr);
}

TEST_F(CompileTurns, ACompilationWithoutARequestThatWaitsForItStops) {
  std::string text = "HloModule long\nENTRY main {\n  v0 = f32[4] parameter(0)\n";
  constexpr int kSteps = 50'000;  // The steps take a second or more.
  for (int i = 1; i < kSteps; ++i)
    absl::StrAppend(&text, "  v", i, " = f32[4] custom-call(v", i - 1,
                    "), custom_call_target=\"Sharding\"\n");
  const std::string program =
      ProgramOf(absl::StrCat(text, "  ROOT r = f32[4] negate(v", kSteps - 1, ")\n}\n"));
  ExecutableCache cache({});
  const std::shared_ptr<ExecutableCache::Request> request =
      cache.Compile(1, program, [](const absl::StatusOr<ExecutableCache::Compiled>& c) {
        ADD_FAILURE() << "A cancelled request is answered: " << c.status();
      });
  absl::SleepFor(absl::Milliseconds(50));  // tidy: it is being compiled by now, or else never will be.
  cache.Cancel(request);
  EXPECT_TRUE(Eventually([&] { return cache.queued() == 0; }));
  EXPECT_EQ(cache.Find(Sha256(program)), nullptr);
}

// Both want one program. The first may take its parsed module, and not what compiling takes.
TEST_F(CompileTurns, AUsedUpShareRefusesOnlyThoseWhoHaveIt) {
  std::string text = "HloModule long\nENTRY main {\n  v0 = f32[4] parameter(0)\n";
  constexpr int kSteps = 20'000;  // It is still being parsed when the second request comes.
  for (int i = 1; i < kSteps; ++i) absl::StrAppend(&text, "  v", i, " = f32[4] sine(v", i - 1, ")\n");
  const std::string program =
      ProgramOf(absl::StrCat(text, "  ROOT r = f32[4] negate(v", kSteps - 1, ")\n}\n"));
  const int64_t parsed = hlo::codec::CountWire(program)->memory_bytes;
  SideMemory small((parsed + (1 << 20)) / 3 * 4), large(int64_t{1} << 30);
  ExecutableCache cache({});
  absl::Notification first, second;
  cache.Compile(
      1, program,
      [&](const absl::StatusOr<ExecutableCache::Compiled>& c) {
        // If the second one's thread came first, the program is compiled for both.
        if (!c.ok()) {
          EXPECT_EQ(KindOf(c.status()), ErrorKind::kLimit) << c.status();
        }
        first.Notify();
      },
      small.ShareOf("user 1"));
  cache.Compile(
      2, program,
      [&](const absl::StatusOr<ExecutableCache::Compiled>& c) {
        EXPECT_TRUE(c.ok()) << c.status();
        second.Notify();
      },
      large.ShareForSession("user 2"));
  EXPECT_TRUE(first.WaitForNotificationWithTimeout(absl::Seconds(60)));
  EXPECT_TRUE(second.WaitForNotificationWithTimeout(absl::Seconds(60)));
  EXPECT_TRUE(Eventually([&] { return cache.queued() == 0; }));
  EXPECT_EQ(small.used_bytes(), 0);
  EXPECT_EQ(large.used_bytes(), 0);
}

TEST_F(CompileTurns, WhatWaitsIsBoundedOverAllSessions) {
  const auto bytes = static_cast<int64_t>(Program(5).size());
  ExecutableCache cache({.queued_bytes_max = 4 * bytes});
  Hold(cache);
  Compile(cache, 1, 2);
  const auto refusal = [&](uint64_t session, int number) {
    absl::Status status;
    cache.Compile(session, Program(number),
                  [&status](const absl::StatusOr<ExecutableCache::Compiled>& c) { status = c.status(); });
    return status;
  };
  Compile(cache, 1, 3);
  const absl::Status refused = refusal(1, 4);
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr(absl::StrFormat("staging_bytes_max is %d", 4 * bytes)));
  cache.Discard(1);  // Two are being compiled, and two have been dropped.
  Compile(cache, 3, 5);
  Release();
  EXPECT_TRUE(Eventually([&] { return cache.queued() == 0; }));
  for (int number = 6; number < 10; ++number) Compile(cache, 1, number);
  EXPECT_TRUE(Eventually([&] { return cache.queued() == 0; }));
  EXPECT_NE(cache.Find(Sha256(Program(9))), nullptr) << "The bytes of what is compiled are given back.";
}

TEST_F(CompileTurns, OneProgramOfASessionIsAlwaysTaken) {
  ExecutableCache cache({.queued_bytes_max = 1});
  for (uint64_t session = 1; session < 4; ++session) {
    absl::Notification compiled;
    cache.Compile(session, Program(static_cast<int>(session)),
                  [&](const absl::StatusOr<ExecutableCache::Compiled>& c) {
                    EXPECT_TRUE(c.ok()) << c.status();
                    compiled.Notify();
                  });
    EXPECT_TRUE(compiled.WaitForNotificationWithTimeout(absl::Seconds(60)));
    EXPECT_TRUE(Eventually([&] { return cache.queued() == 0; }));
  }
}

// A library routine cannot be stopped: at the deadline its execute is answered, and the memory that it uses
// stays charged.
TEST_F(Turns, ARoutineOfLapackIsLeftBehindAtItsDeadline) {
  ASSERT_TRUE(hog.Await(hog.Compile(1, ProgramOf(R"(HloModule eigenvalues
ENTRY main {
  i = f32[1000,1000] iota(), iota_dimension=0
  j = f32[1000,1000] iota(), iota_dimension=1
  k = f32[1000,1000] multiply(i, j)
  l = f32[1000,1000] add(k, i)
  a = f32[1000,1000] cosine(l)
  ROOT e = (f32[1000], f32[1000], c64[1000,1000], c64[1000,1000], s32[]) custom-call(a),
    custom_call_target="lapack_sgeev_ffi", api_version=API_VERSION_TYPED_FFI,
    backend_config={compute_left = 86 : ui8, compute_right = 86 : ui8}
}
)")))
                  .ok());
  const int64_t before = devices->device(0).memory.figures().temporary_bytes;
  // On a busy machine a deadline may pass before the routine has begun; then no memory stays charged.
  int64_t left = 0;
  for (uint64_t turn = 0; turn < 5 && left == 0; ++turn) {
    const uint64_t first = 2 + 5 * turn;
    ExecuteRequest request = hog.ExecuteOf(1, {}, {first, first + 1, first + 2, first + 3, first + 4});
    request.deadline_us = 25'000 << turn;
    EXPECT_EQ(KindOf(hog.Await(hog.Execute(std::move(request)))), ErrorKind::kDeadline);
    left = devices->device(0).memory.figures().temporary_bytes - before;
  }
  EXPECT_GT(left, 0);
  EXPECT_TRUE(Eventually([&] { return devices->device(0).memory.figures().temporary_bytes == before; }));
}

}  // namespace
}  // namespace hlod::device
