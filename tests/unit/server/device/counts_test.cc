// The counts in listings, and the time that a command waits for an upload.
#include <gtest/gtest.h>

#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

class Figures : public testing::Test {
 protected:
  FakeClock clock;
  std::unique_ptr<Devices> devices = MakeDevices(clock, {.upload_wait_us = 30'000'000});
  TestSession session{*devices};
};

TEST_F(Figures, BuffersAreThoseThatHoldMemory) {
  ASSERT_TRUE(session.Await(session.Compile(1, AddProgram())).ok());
  session.Upload(2, {1, 2, 3, 4});
  const uint64_t late = session.Announce(3);
  session.Placeholder(4);
  const uint64_t waiting = session.Execute(session.ExecuteOf(1, {2, 3}, {5}));
  EXPECT_FALSE(session.Await(session.Execute(session.ExecuteOf(1, {2}, {6}))).ok());
  EXPECT_EQ(session.session_device->counts().buffers, 2) << "2, and 3, whose memory is reserved.";
  EXPECT_EQ(session.session_device->counts().placeholders, 1);
  EXPECT_EQ(session.session_device->counts().waiting_executes, 1);
  session.Deliver(late);
  EXPECT_TRUE(session.Await(waiting).ok());
  EXPECT_EQ(session.session_device->counts().buffers, 3);
  EXPECT_EQ(session.session_device->counts().waiting_executes, 0);
}

TEST_F(Figures, EachDeviceHasItsOwn) {
  const std::unique_ptr<Devices> two = MakeDevices(clock, {}, 64 << 20, 2);
  TestSession pair(*two);
  pair.Upload(1, {1, 2, 3, 4});
  pair.Placeholder(2, F32x4(), 1);
  pair.Placeholder(3, F32x4(), 7);
  const std::vector<SessionDevice::Counts> counts = pair.session_device->device_counts();
  ASSERT_EQ(counts.size(), 2u) << "Device 7 does not exist.";
  EXPECT_EQ(counts[0].buffers, 1);
  EXPECT_EQ(counts[0].placeholders, 0);
  EXPECT_EQ(counts[1].buffers, 0);
  EXPECT_EQ(counts[1].placeholders, 1);
}

TEST_F(Figures, ExecutablesAreListedMostRecentlyAskedForFirst) {
  ASSERT_TRUE(session.Await(session.Compile(1, AddProgram())).ok());
  ASSERT_TRUE(session.Await(session.Compile(2, SeparateProgram())).ok());
  EXPECT_EQ(devices->executables().List().at(0)->name(), "separate");
  ASSERT_TRUE(session.Await(session.Compile(3, AddProgram())).ok());
  EXPECT_EQ(devices->executables().List().at(0)->name(), "add");
}

TEST_F(Figures, AnOrphanUploadExpiresThoughLaterOnesMove) {
  const uint64_t orphan = session.Announce(1);
  const uint64_t moving = session.Announce(2);
  const UploadPart part = session.session_device->uploads().Claim(moving).value();
  clock.Advance(absl::Seconds(20));
  EXPECT_TRUE(session.session_device->uploads().AddReceived(moving, part.generation, 4));
  clock.Advance(absl::Seconds(10));
  session.session_device->uploads().Expire(clock.Now(), /*heard=*/clock.Now());
  EXPECT_EQ(KindOf(session.Await(orphan)), ErrorKind::kPending);
  EXPECT_FALSE(session.AnswerTo(moving).has_value());
}

TEST_F(Figures, BytesOfAStaleTransferAreNoProgress) {
  const uint64_t upload = session.Announce(1);
  const UploadPart stale = session.session_device->uploads().Claim(upload).value();
  const UploadPart part = session.session_device->uploads().Claim(upload).value();
  clock.Advance(absl::Seconds(20));
  EXPECT_FALSE(session.session_device->uploads().AddReceived(upload, stale.generation, 8));
  EXPECT_TRUE(session.session_device->uploads().AddReceived(upload, part.generation, 0));
  clock.Advance(absl::Seconds(11));
  session.session_device->uploads().Expire(clock.Now(), /*heard=*/clock.Now());
  EXPECT_EQ(KindOf(session.Await(upload)), ErrorKind::kPending);
}

}  // namespace
}  // namespace hlod::device
