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

}  // namespace
}  // namespace hlod::device
