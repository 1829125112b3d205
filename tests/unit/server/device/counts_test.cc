// What listings count, and how long an upload is waited for.
#include <gtest/gtest.h>

#include "tests/unit/server/device/workspace.h"

namespace hlod::device {
namespace {

class Figures : public testing::Test {
 protected:
  FakeClock clock;
  std::unique_ptr<Devices> devices = MakeDevices(clock, {.upload_wait_us = 30'000'000});
  Desk desk{*devices};
};

TEST_F(Figures, BuffersAreThoseThatHoldMemory) {
  ASSERT_TRUE(desk.Await(desk.Compile(1, AddProgram())).ok());
  desk.Upload(2, {1, 2, 3, 4});
  const uint64_t late = desk.Announce(3);
  desk.Placeholder(4);
  const uint64_t waiting = desk.Execute(desk.ExecuteOf(1, {2, 3}, {5}));
  desk.Await(desk.Execute(desk.ExecuteOf(1, {2}, {6})));  // Fails.
  EXPECT_EQ(desk.workspace->counts().buffers, 2) << "2, and 3, whose memory is reserved.";
  EXPECT_EQ(desk.workspace->counts().placeholders, 1);
  EXPECT_EQ(desk.workspace->waiting_executes(0), 1);
  desk.Deliver(late);
  EXPECT_TRUE(desk.Await(waiting).ok());
  EXPECT_EQ(desk.workspace->counts().buffers, 3);
  EXPECT_EQ(desk.workspace->waiting_executes(0), 0);
}

TEST_F(Figures, ExecutablesAreListedMostRecentlyAskedForFirst) {
  ASSERT_TRUE(desk.Await(desk.Compile(1, AddProgram())).ok());
  ASSERT_TRUE(desk.Await(desk.Compile(2, SeparateProgram())).ok());
  EXPECT_EQ(devices->executables().List().at(0)->name(), "separate");
  ASSERT_TRUE(desk.Await(desk.Compile(3, AddProgram())).ok());
  EXPECT_EQ(devices->executables().List().at(0)->name(), "add");
}

TEST_F(Figures, BytesOfAStaleTransferAreNoProgress) {
  const uint64_t upload = desk.Announce(1);
  const Workspace::UploadPart stale = desk.workspace->ClaimUpload(upload).value();
  const Workspace::UploadPart part = desk.workspace->ClaimUpload(upload).value();
  clock.Advance(absl::Seconds(20));
  EXPECT_FALSE(desk.workspace->AddReceived(upload, stale.generation, 8));
  EXPECT_TRUE(desk.workspace->AddReceived(upload, part.generation, 0));
  clock.Advance(absl::Seconds(11));
  desk.workspace->ExpireUploads(clock.Now());
  EXPECT_EQ(KindOf(desk.Await(upload)), ErrorKind::kPending);
}

}  // namespace
}  // namespace hlod::device
