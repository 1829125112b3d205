// The size and encoding of a client's names in messages, which are repeated often and must stay UTF-8.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/text/utf8.h"
#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

class Errors : public testing::Test {
 protected:
  FakeClock clock;
  std::unique_ptr<Devices> devices = MakeDevices(clock);
  TestSession session{*devices};
};

TEST(ClipUtf8, CutsBetweenCharacters) {
  EXPECT_EQ(ClipUtf8("abc", 3), "abc");
  EXPECT_EQ(ClipUtf8("abc", 2), "ab");
  EXPECT_EQ(ClipUtf8("a\xc3\xa4", 3), "a\xc3\xa4");
  EXPECT_EQ(ClipUtf8("a\xc3\xa4", 2), "a");
  EXPECT_EQ(ClipUtf8("\xf0\x9f\x98\x80", 3), "");
  EXPECT_EQ(ClipUtf8("", 0), "");
}

TEST_F(Errors, AnOriginIsCutBetweenCharacters) {
  std::string file(1023, 'a');
  for (int i = 0; i < 10; ++i) file += "\xc3\xa4";
  ASSERT_TRUE(session.session_device->DefineOrigin(1, {file, 7, file}, session.Keep(session.Next().id)).ok());
  EXPECT_EQ(session.session_device->origin(1).file, std::string(1023, 'a'));
  EXPECT_EQ(session.session_device->origin(1).function, std::string(1023, 'a'));
  // The refusal keeps its error kind, though its text contains the name.
  PlaceholderRequest request;
  request.command = {session.Next().id, 1, 0};
  request.handle = 1;
  request.shape = F32x4();
  ASSERT_TRUE(session.session_device->DefinePlaceholder(request, session.Keep(request.command.id)).ok());
  EXPECT_EQ(KindOf(session.Read(1).status()), ErrorKind::kPlaceholder);
  EXPECT_EQ(ErrorOf(session.Read(1).status()).origin.line, 7);
}

TEST_F(Errors, ALongNameIsNotRepeatedInFull) {
  const std::string name(1 << 20, 'n');
  ASSERT_TRUE(session
                  .Await(session.Compile(1, ProgramOf("HloModule " + name + R"(
ENTRY main {
  ROOT a = f32[4] parameter(0)
}
)")))
                  .ok());
  std::vector<Handle> results;
  for (Handle result = 2; result < 1002; ++result) results.push_back(result);
  const absl::Status status = session.Await(session.Execute(session.ExecuteOf(1, {}, results)));
  EXPECT_EQ(KindOf(status), ErrorKind::kArgument);
  EXPECT_LT(ErrorOf(status).text.size(), 8192u);
  EXPECT_LT(ErrorOf(session.Read(500).status()).text.size(), 8192u);
}

TEST_F(Errors, ALongShapeIsNotRepeatedInFull) {
  const hlo::Shape shape = hlo::Shape::Array(hlo::kF32, std::vector<int64_t>(100'000, 1));
  session.Placeholder(1, shape);
  const ErrorDetails error = ErrorOf(session.Read(1).status());
  EXPECT_EQ(error.kind, ErrorKind::kPlaceholder);
  EXPECT_LT(error.shape.size(), 2048u);
  EXPECT_LT(error.text.size(), 8192u);
}

TEST_F(Errors, PartialPlansAreFew) {
  constexpr int kResults = 24;
  std::string text = "HloModule many\nENTRY main {\n", tuple = "(f32[]", names = "r0";
  for (int i = 1; i < kResults; ++i) tuple += ", f32[]", names += ", r" + std::to_string(i);
  for (int i = 0; i < kResults; ++i) {
    const std::string n = std::to_string(i);
    text += "  a" + n + " = f32[] parameter(" + n + ")\n  r" + n + " = f32[] add(a" + n + ", a" + n + ")\n";
  }
  text += "  ROOT t = " + tuple + ") tuple(" + names + ")\n}\n";
  ASSERT_TRUE(session.Await(session.Compile(1, ProgramOf(text))).ok());
  const std::shared_ptr<Executable> executable = devices->executables().List().at(0);
  std::vector<std::weak_ptr<const engine::Plan>> plans;
  for (int i = 0; i < kResults; ++i) {
    std::vector<bool> keep(kResults, false);
    keep[static_cast<size_t>(i)] = true;
    plans.push_back(executable->PartialPlan(keep, devices->executables().options().compile).value());
  }
  const auto alive =
      std::count_if(plans.begin(), plans.end(), [](const auto& plan) { return !plan.expired(); });
  EXPECT_EQ(alive, static_cast<std::ptrdiff_t>(Executable::kPartialMax));
}

TEST_F(Errors, APartialPlanIsChargedUntilASessionFreesItsProgram) {
  ASSERT_TRUE(session
                  .Await(session.Compile(1, ProgramOf(R"(HloModule two
ENTRY main {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] add(a, a)
  d = f32[] add(b, b)
  ROOT t = (f32[], f32[]) tuple(c, d)
}
)")))
                  .ok());
  const std::shared_ptr<Executable> executable = devices->executables().List().at(0);
  SideMemory memory(1'000'000);
  const std::shared_ptr<MemoryShare> share = memory.ShareOf("user 1");
  const engine::CompileOptions& options = devices->executables().options().compile;
  ASSERT_TRUE(executable->PartialPlan({true, false}, options, share).ok());
  EXPECT_GT(share->used_bytes(), 0);
  absl::StatusOr<std::shared_ptr<const engine::Plan>> waiting =
      executable->PartialPlan({true, false}, options, share);
  session.Free({1});
  EXPECT_GT(share->used_bytes(), 0) << "An execute that waits holds the plan.";
  waiting = nullptr;
  EXPECT_EQ(share->used_bytes(), 0);
  share->Charge(999'000);
  const absl::Status refused = executable->PartialPlan({false, true}, options, share).status();
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit) << refused;
  share->Release(999'000);
}

// In a session with many handles the error searches only some, because it may occur often.
TEST_F(Errors, WantOfMemoryNamesTheLargestBuffersOfAFewOrSomeOfMany) {
  // The device has half of this much memory.
  const hlo::Shape large = hlo::Shape::Array(hlo::kU8, {128 << 20});
  session.Upload(1, {1, 2, 3, 4});
  const std::string one = ErrorOf(session.Await(session.Announce(2, large))).text;
  EXPECT_THAT(one, testing::HasSubstr(" This session's largest buffers: handle 1, f32[4], "));
  EXPECT_THAT(one, testing::Not(testing::HasSubstr(" more of ")));
  for (Handle handle = 3; handle <= 6; ++handle) session.Upload(handle, {1, 2, 3, 4});
  const std::string five = ErrorOf(session.Await(session.Announce(7, large))).text;
  EXPECT_THAT(five, testing::HasSubstr(", and 2 more of 32 bytes."));
  for (Handle handle = 8; handle <= 1100; ++handle) session.Upload(handle, {1, 2, 3, 4});
  const std::string text = ErrorOf(session.Await(session.Announce(1101, large))).text;
  EXPECT_THAT(text, testing::HasSubstr(" Buffers of this session: handle "));
  EXPECT_THAT(text, testing::HasSubstr(", and at least "));
}

}  // namespace
}  // namespace hlod::device
