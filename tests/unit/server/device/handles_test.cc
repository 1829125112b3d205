// The limit handles_per_session_max counts the handles that a command defines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Handles, AnExecuteThatDefinesNoneRunsAtTheLimit) {
  FakeClock clock;
  const std::unique_ptr<Devices> devices = MakeDevices(clock, {.handles_per_session_max = 3});
  TestSession session(*devices);
  ASSERT_TRUE(session.Await(session.Compile(1, SeparateProgram())).ok());
  session.Upload(2, {1, 2, 3, 4});
  session.Placeholder(3);
  EXPECT_TRUE(session.Await(session.Execute(session.ExecuteOf(1, {2, 2}, {0, 0}))).ok());
  ExecuteRequest fill = session.ExecuteOf(1, {2, 2}, {0, 3});
  fill.fills = {1};
  EXPECT_TRUE(session.Await(session.Execute(std::move(fill))).ok());
  EXPECT_THAT(*session.Read(3), ElementsAre(1, 4, 9, 16));
  const absl::Status refused = session.Await(session.Execute(session.ExecuteOf(1, {2, 2}, {0, 4})));
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("handles_per_session_max is 3"));
}

}  // namespace
}  // namespace hlod::device
