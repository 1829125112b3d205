// Abstract executes and fills: what is consumed, and what may be filled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/device/workspace.h"

namespace hlod::device {
namespace {

using testing::ElementsAre;

class Abstract : public testing::Test {
 protected:
  FakeClock clock;
  std::unique_ptr<Devices> devices = MakeDevices(clock);
  Desk desk{*devices};
};

// Its first result counts down from n, its second one is twice the other argument.
std::string LoopAndDouble() {
  return ProgramOf(R"(HloModule loop_and_double
body {
  n = s64[] parameter(0)
  one = s64[] constant(1)
  ROOT m = s64[] subtract(n, one)
}
cond {
  n = s64[] parameter(0)
  zero = s64[] constant(0)
  ROOT more = pred[] compare(n, zero), direction=NE
}
ENTRY main {
  n = s64[] parameter(0)
  a = f32[4] parameter(1)
  w = s64[] while(n), condition=cond, body=body
  b = f32[4] add(a, a)
  ROOT t = (s64[], f32[4]) tuple(w, b)
}
)");
}

TEST_F(Abstract, APartThatFailsAfterItsStartHasConsumedItsDonations) {
  ASSERT_TRUE(desk.Await(desk.Compile(1, LoopAndDouble())).ok());
  const int64_t forever = int64_t{1} << 60;
  UploadRequest upload;
  upload.command = desk.Next();
  upload.handle = 2;
  upload.shape = hlo::Shape::Array(hlo::kS64, {});
  upload.bytes = sizeof(forever);
  upload.data = std::string_view(reinterpret_cast<const char*>(&forever), sizeof(forever));
  ASSERT_TRUE(desk.workspace->Upload(upload, desk.Keep(upload.command.id)).ok());
  desk.Placeholder(3);
  ExecuteRequest request = desk.ExecuteOf(1, {2, 3}, {4, 5}, {0});
  request.abstract = true;
  request.deadline_us = 20'000;
  EXPECT_EQ(KindOf(desk.Await(desk.Execute(std::move(request)))), ErrorKind::kDeadline);
  EXPECT_EQ(KindOf(desk.Read(2).status()), ErrorKind::kDonated);
  EXPECT_EQ(desk.workspace->ledger().account().counters.executes, 1);
}

TEST_F(Abstract, APlaceholderThatWasGivenAwayIsNotFilled) {
  ASSERT_TRUE(desk.Await(desk.Compile(1, AddProgram())).ok());
  desk.Placeholder(2);
  desk.Placeholder(3);
  const uint64_t late = desk.Announce(4);
  ExecuteRequest request = desk.ExecuteOf(1, {2, 4}, {5}, {0});
  request.abstract = true;
  const uint64_t execute = desk.Execute(std::move(request));
  ASSERT_FALSE(desk.AnswerTo(execute).has_value()) << "It waits for an argument.";
  ExecuteRequest fill = desk.ExecuteOf(1, {3, 3}, {2});
  fill.fills = {0};
  EXPECT_EQ(KindOf(desk.Await(desk.Execute(std::move(fill)))), ErrorKind::kDonated);
  desk.Deliver(late);
  EXPECT_TRUE(desk.Await(execute).ok());
  ExecuteRequest again = desk.ExecuteOf(1, {3, 3}, {2});
  again.fills = {0};
  EXPECT_EQ(KindOf(desk.Await(desk.Execute(std::move(again)))), ErrorKind::kDonated)
      << "The same answer later.";
}

TEST_F(Abstract, APlaceholderIsNotFilledTwiceByOneExecute) {
  ASSERT_TRUE(desk.Await(desk.Compile(1, SeparateProgram())).ok());
  desk.Placeholder(2);
  desk.Upload(3, {1, 2, 3, 4});
  ExecuteRequest request = desk.ExecuteOf(1, {3, 3}, {2, 2});
  request.fills = {0, 1};
  EXPECT_EQ(KindOf(desk.Await(desk.Execute(std::move(request)))), ErrorKind::kArgument);
}

TEST_F(Abstract, AHandleThatWasFreedIsGoneThoughADonationIsPending) {
  ASSERT_TRUE(desk.Await(desk.Compile(1, AddProgram())).ok());
  desk.Upload(2, {1, 2, 3, 4});
  const uint64_t late = desk.Announce(3);
  const uint64_t execute = desk.Execute(desk.ExecuteOf(1, {2, 3}, {4}, {0}));
  const uint64_t freed = desk.Free({2});
  EXPECT_FALSE(desk.AnswerTo(freed).has_value()) << "Whether it was donated is not known yet.";
  EXPECT_EQ(KindOf(desk.Read(2).status()), ErrorKind::kDeleted);
  desk.Deliver(late);
  EXPECT_TRUE(desk.Await(execute).ok());
  EXPECT_EQ(KindOf(desk.Await(freed)), ErrorKind::kDonated);
}

}  // namespace
}  // namespace hlod::device
