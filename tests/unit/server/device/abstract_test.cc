// Abstract executes and fills: which arguments are consumed, and which buffers may be filled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

using testing::ElementsAre;

class Abstract : public testing::Test {
 protected:
  FakeClock clock;
  std::unique_ptr<Devices> devices = MakeDevices(clock);
  TestSession session{*devices};
};

// Returns a program whose first result counts down from n, and whose second is twice the other argument.
std::string LoopAndDouble() {
  return WithCountDown("loop_and_double", R"(ENTRY main {
  n = s64[] parameter(0)
  a = f32[4] parameter(1)
  w = s64[] while(n), condition=cond, body=body
  b = f32[4] add(a, a)
  ROOT t = (s64[], f32[4]) tuple(w, b)
}
)");
}

TEST_F(Abstract, APartThatFailsAfterItsStartHasConsumedItsDonations) {
  ASSERT_TRUE(session.Await(session.Compile(1, LoopAndDouble())).ok());
  const int64_t forever = int64_t{1} << 60;
  UploadRequest upload;
  upload.command = session.Next();
  upload.handle = 2;
  upload.shape = hlo::Shape::Array(hlo::kS64, {});
  upload.bytes = sizeof(forever);
  upload.data = std::string_view(reinterpret_cast<const char*>(&forever), sizeof(forever));
  ASSERT_TRUE(session.session_device->Upload(upload, session.Keep(upload.command.id)).ok());
  session.Placeholder(3);
  ExecuteRequest request = session.ExecuteOf(1, {2, 3}, {4, 5}, {0});
  request.abstract = true;
  request.deadline_us = 1'000'000;  // Compiling the part may take long on a busy machine.
  EXPECT_EQ(KindOf(session.Await(session.Execute(std::move(request)))), ErrorKind::kDeadline);
  EXPECT_EQ(KindOf(session.Read(2).status()), ErrorKind::kDonated);
  EXPECT_EQ(session.session_device->ledger().account().counters.executes, 1);
}

// A compilation for an abstract execute does not hold up a device, and may be cancelled.
TEST_F(Abstract, IsPreparedOnACompileThread) {
  ASSERT_TRUE(session.Await(session.Compile(1, AddProgram())).ok());
  ASSERT_TRUE(session.Await(session.Compile(2, SeparateProgram())).ok());
  session.Upload(3, {1, 2, 3, 4});
  session.Placeholder(4);
  const auto compilers_go_on = std::make_shared<absl::Notification>();
  for (int i = 0; i < 2; ++i) {  // These two keep jobs of the same session from starting.
    devices->executables().Run(session.session_device->session(),
                               [compilers_go_on] { compilers_go_on->WaitForNotification(); });
  }
  const auto abstract_execute = [&](Handle first) {
    ExecuteRequest request = session.ExecuteOf(2, {3, 4}, {first, first + 1});
    request.abstract = true;
    return session.Execute(std::move(request));
  };
  const uint64_t cancelled = abstract_execute(10), waiting = abstract_execute(12);
  EXPECT_TRUE(session.Await(session.Execute(session.ExecuteOf(1, {3, 3}, {14}))).ok());
  EXPECT_FALSE(session.AnswerTo(cancelled).has_value());
  session.session_device->Cancel(cancelled);
  ASSERT_TRUE(session.AnswerTo(cancelled).has_value());
  EXPECT_EQ(KindOf(*session.AnswerTo(cancelled)), ErrorKind::kCancelled);
  EXPECT_FALSE(session.AnswerTo(waiting).has_value());
  compilers_go_on->Notify();
  EXPECT_TRUE(session.Await(waiting).ok());
  EXPECT_THAT(*session.Read(12), ElementsAre(2, 4, 6, 8));
  EXPECT_EQ(KindOf(session.Read(13).status()), ErrorKind::kPlaceholder);
}

TEST_F(Abstract, PreparingCountsAgainstTheDeadline) {
  ASSERT_TRUE(session.Await(session.Compile(1, SeparateProgram())).ok());
  session.Upload(2, {1, 2, 3, 4});
  session.Placeholder(3);
  ExecuteRequest request = session.ExecuteOf(1, {2, 3}, {4, 5}, {0});
  request.abstract = true;
  request.deadline_us = 1;
  EXPECT_EQ(KindOf(session.Await(session.Execute(std::move(request)))), ErrorKind::kDeadline);
  EXPECT_THAT(*session.Read(2), ElementsAre(1, 2, 3, 4)) << "It never started: nothing is consumed.";
}

TEST_F(Abstract, APlaceholderThatWasGivenAwayIsNotFilled) {
  ASSERT_TRUE(session.Await(session.Compile(1, AddProgram())).ok());
  session.Placeholder(2);
  session.Placeholder(3);
  const uint64_t late = session.Announce(4);
  ExecuteRequest request = session.ExecuteOf(1, {2, 4}, {5}, {0});
  request.abstract = true;
  const uint64_t execute = session.Execute(std::move(request));
  ASSERT_FALSE(session.AnswerTo(execute).has_value()) << "It waits for an argument.";
  ExecuteRequest fill = session.ExecuteOf(1, {3, 3}, {2});
  fill.fills = {0};
  EXPECT_EQ(KindOf(session.Await(session.Execute(std::move(fill)))), ErrorKind::kDonated);
  session.Deliver(late);
  EXPECT_TRUE(session.Await(execute).ok());
  ExecuteRequest again = session.ExecuteOf(1, {3, 3}, {2});
  again.fills = {0};
  EXPECT_EQ(KindOf(session.Await(session.Execute(std::move(again)))), ErrorKind::kDonated)
      << "The same answer later.";
}

TEST_F(Abstract, APlaceholderIsNotFilledTwiceByOneExecute) {
  ASSERT_TRUE(session.Await(session.Compile(1, SeparateProgram())).ok());
  session.Placeholder(2);
  session.Upload(3, {1, 2, 3, 4});
  ExecuteRequest request = session.ExecuteOf(1, {3, 3}, {2, 2});
  request.fills = {0, 1};
  EXPECT_EQ(KindOf(session.Await(session.Execute(std::move(request)))), ErrorKind::kArgument);
}

TEST_F(Abstract, AFillDoesNotMoveAPlaceholderToAnotherDevice) {
  const std::unique_ptr<Devices> two = MakeDevices(clock, {}, 64 << 20, 2);
  TestSession pair(*two);
  ASSERT_TRUE(pair.Await(pair.Compile(1, ProgramOf(R"(HloModule constant
ENTRY main {
  one = f32[] constant(1)
  ROOT ones = f32[4] broadcast(one), dimensions={}
}
)")))
                  .ok());
  pair.Placeholder(2);
  ExecuteRequest fill = pair.ExecuteOf(1, {}, {2});
  fill.fills = {0};
  fill.device = 1;
  const absl::Status refused = pair.Await(pair.Execute(std::move(fill)));
  EXPECT_EQ(KindOf(refused), ErrorKind::kArgument);
  EXPECT_THAT(ErrorOf(refused).text, testing::HasSubstr("Placeholder 2 is on device 0"));
  EXPECT_EQ(KindOf(pair.Read(2).status()), ErrorKind::kPlaceholder) << "It stays what it was.";
}

TEST_F(Abstract, AResultIsAtMostAsLargeAsABuffer) {
  const std::unique_ptr<Devices> small = MakeDevices(clock, {.buffer_bytes_max = 64});
  TestSession limited(*small);
  // f32[16] has 64 bytes, f32[17] has 68.
  const std::string shapes[] = {"f32[16]", "f32[17]"};
  for (Handle i = 0; i < 2; ++i) {
    ASSERT_TRUE(limited
                    .Await(limited.Compile(1 + 10 * i, ProgramOf("HloModule wide" + std::to_string(i) + R"(
ENTRY main {
  a = f32[] parameter(0)
  ROOT b = )" + shapes[i] + R"( broadcast(a), dimensions={}
}
)")))
                    .ok());
    limited.Placeholder(2 + 10 * i, hlo::Shape::Array(hlo::kF32, {}));
    ExecuteRequest request = limited.ExecuteOf(1 + 10 * i, {2 + 10 * i}, {3 + 10 * i});
    request.abstract = true;
    const absl::Status status = limited.Await(limited.Execute(std::move(request)));
    EXPECT_EQ(KindOf(status), i == 0 ? ErrorKind::kNone : ErrorKind::kLimit) << shapes[i];
    if (i == 0) continue;
    EXPECT_THAT(ErrorOf(status).text, testing::HasSubstr("68 bytes; the limit buffer_bytes_max is 64"));
  }
}

TEST(MemoryAccount, SimulatedBytesDoNotOverflow) {
  MemoryAccount account;
  const int64_t most = std::numeric_limits<int64_t>::max();
  account.Charge(0, most);
  account.Charge(0, most);
  EXPECT_EQ(account.figures().simulated_live_bytes, most);
  EXPECT_EQ(account.figures().simulated_peak_bytes, most);
  account.Discharge(0, most);
  account.Discharge(0, most - 5);
  EXPECT_EQ(account.figures().simulated_live_bytes, 5);
}

TEST_F(Abstract, AHandleThatWasFreedIsGoneThoughADonationIsPending) {
  ASSERT_TRUE(session.Await(session.Compile(1, AddProgram())).ok());
  session.Upload(2, {1, 2, 3, 4});
  const uint64_t late = session.Announce(3);
  const uint64_t execute = session.Execute(session.ExecuteOf(1, {2, 3}, {4}, {0}));
  const uint64_t freed = session.Free({2});
  EXPECT_FALSE(session.AnswerTo(freed).has_value()) << "Whether it was donated is not known yet.";
  EXPECT_EQ(KindOf(session.Read(2).status()), ErrorKind::kDeleted);
  session.Deliver(late);
  EXPECT_TRUE(session.Await(execute).ok());
  EXPECT_EQ(KindOf(session.Await(freed)), ErrorKind::kDonated);
}

}  // namespace
}  // namespace hlod::device
