// Who may touch a buffer's bytes and when: reads and donations take effect in the order they were sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/device/workspace.h"

namespace hlod::device {
namespace {

using testing::ElementsAre;

class Order : public testing::Test {
 protected:
  FakeClock clock;
  std::unique_ptr<Devices> devices = MakeDevices(clock);
  Desk desk{*devices};
};

TEST_F(Order, PinnedBytesStayThoughTheSessionGivesTheBufferAway) {
  ASSERT_TRUE(desk.Await(desk.Compile(1, DoubleInPlaceProgram())).ok());
  desk.Upload(2, {1, 2, 3, 4});
  const uint64_t read = desk.Download(2, /*pin=*/true);
  ASSERT_TRUE(desk.Await(read).ok());
  ReadyBytes held = desk.reads.at(read);  // As a stream holds it that its client has stopped reading ...
  desk.reads.clear();                     // ... and acknowledged.
  ASSERT_TRUE(desk.Await(desk.Execute(desk.ExecuteOf(1, {2}, {3}, {0}))).ok());
  EXPECT_THAT(desk.Values(held), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(*desk.Read(3), ElementsAre(2, 4, 6, 8));
  desk.Free({3});
  Desk other(*devices, 2);
  for (Handle handle = 1; handle <= 8; ++handle) other.Upload(handle, {9, 9, 9, 9});
  EXPECT_THAT(desk.Values(held), ElementsAre(1, 2, 3, 4)) << "Another session's bytes.";
  const int64_t used = devices->device(0).memory.figures().used_bytes;
  held = {};
  EXPECT_EQ(devices->device(0).memory.figures().used_bytes, used - 16) << "The pin was the last holder.";
}

TEST_F(Order, WithoutAPinTheResultTakesTheDonatedMemory) {
  ASSERT_TRUE(desk.Await(desk.Compile(1, DoubleInPlaceProgram())).ok());
  desk.Upload(2, {1, 2, 3, 4});
  const uint64_t read = desk.Download(2, /*pin=*/true);
  ASSERT_TRUE(desk.Await(read).ok());
  const std::byte* const place = desk.reads.at(read).data;
  desk.reads.clear();
  ASSERT_TRUE(desk.Await(desk.Execute(desk.ExecuteOf(1, {2}, {3}, {0}))).ok());
  const uint64_t result = desk.Download(3);
  ASSERT_TRUE(desk.Await(result).ok());
  EXPECT_EQ(desk.reads.at(result).data, place);
}

}  // namespace
}  // namespace hlod::device
