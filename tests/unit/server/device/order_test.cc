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

TEST_F(Order, ACancelledDonationStillWaitsForTheReadsBeforeIt) {
  ASSERT_TRUE(desk.Await(desk.Compile(1, DoubleInPlaceProgram())).ok());
  desk.Upload(2, {1, 2, 3, 4});
  const uint64_t read = desk.Download(2);  // Its copy is not done until EndRead.
  ASSERT_TRUE(desk.Await(read).ok());
  const uint64_t first = desk.Execute(desk.ExecuteOf(1, {2}, {3}, {0}));
  desk.workspace->Cancel(first);
  EXPECT_EQ(KindOf(desk.Await(first)), ErrorKind::kCancelled) << "Told at once.";
  EXPECT_EQ(KindOf(desk.Read(3).status()), ErrorKind::kCancelled);
  const uint64_t second = desk.Execute(desk.ExecuteOf(1, {2}, {4}, {0}));
  EXPECT_FALSE(desk.AnswerTo(second).has_value());
  EXPECT_THAT(desk.Values(desk.reads.at(read)), ElementsAre(1, 2, 3, 4))
      << "The second one writes into what is being read.";
  desk.EndRead(read);
  ASSERT_TRUE(desk.Await(second).ok());
  EXPECT_THAT(*desk.Read(4), ElementsAre(2, 4, 6, 8));
}

TEST_F(Order, ACancelledDonationDoesNotHideTheOneBeforeIt) {
  ASSERT_TRUE(desk.Await(desk.Compile(1, AddProgram())).ok());
  desk.Upload(2, {1, 2, 3, 4});
  const uint64_t late = desk.Announce(3);
  const uint64_t first = desk.Execute(desk.ExecuteOf(1, {2, 3}, {4}, {0}));
  const uint64_t second = desk.Execute(desk.ExecuteOf(1, {2, 3}, {5}, {0}));
  desk.workspace->Cancel(second);
  const uint64_t read = desk.Download(2);
  EXPECT_FALSE(desk.AnswerTo(read).has_value()) << "Whether the first one consumes it is not known yet.";
  desk.Deliver(late);
  EXPECT_TRUE(desk.Await(first).ok());
  EXPECT_EQ(KindOf(desk.Await(read)), ErrorKind::kDonated);
}

// A device that another session keeps busy until the test lets go.
struct Busy {
  explicit Busy(Devices& devices) {
    devices.device(0).queue.Submit(99, 1e9, [gate = gate] { gate->WaitForNotification(); });
  }
  ~Busy() {
    if (!gate->HasBeenNotified()) gate->Notify();
  }
  // Shared: the device may come to it, or still be leaving it, after the test.
  const std::shared_ptr<absl::Notification> gate = std::make_shared<absl::Notification>();
};

TEST_F(Order, ADeadSessionsQueuedWorkHoldsNoMemory) {
  Desk dead(*devices, 2);
  ASSERT_TRUE(dead.Await(dead.Compile(1, AddProgram())).ok());
  dead.Upload(2, {1, 2, 3, 4});
  Busy busy(*devices);
  for (Handle result = 3; result < 10; ++result) dead.Execute(dead.ExecuteOf(1, {2, 2}, {result}));
  dead.workspace->Close();
  EXPECT_EQ(devices->device(0).memory.figures().used_bytes, 0);
  EXPECT_EQ(dead.workspace->account()->figures().live_bytes, 0);
}

TEST_F(Order, CancelOfAQueuedExecuteIsToldAtOnce) {
  ASSERT_TRUE(desk.Await(desk.Compile(1, AddProgram())).ok());
  desk.Upload(2, {1, 2, 3, 4});
  Busy busy(*devices);
  const uint64_t execute = desk.Execute(desk.ExecuteOf(1, {2, 2}, {3}, {0}));
  desk.workspace->Cancel(execute);
  ASSERT_TRUE(desk.AnswerTo(execute).has_value());
  EXPECT_EQ(KindOf(*desk.AnswerTo(execute)), ErrorKind::kCancelled);
  EXPECT_THAT(*desk.Read(2), ElementsAre(1, 2, 3, 4)) << "It never started: nothing is consumed.";
}

TEST_F(Order, CommandsAfterTheEndDoNothing) {
  ASSERT_TRUE(desk.Await(desk.Compile(1, AddProgram())).ok());
  desk.workspace->Close();
  const std::vector<uint64_t> late = {desk.Upload(2, {1, 2, 3, 4}),
                                      desk.Announce(3),
                                      desk.Placeholder(4),
                                      desk.Execute(desk.ExecuteOf(1, {2, 3}, {5})),
                                      desk.Download(2),
                                      desk.Free({2}),
                                      desk.Compile(6, DoubleInPlaceProgram())};
  for (const uint64_t command : late)
    EXPECT_FALSE(desk.AnswerTo(command).has_value()) << "Command " << command;
  EXPECT_EQ(devices->device(0).memory.figures().used_bytes, 0);
  EXPECT_EQ(desk.workspace->account()->figures().simulated_live_bytes, 0);
  std::weak_ptr<Workspace> gone = desk.workspace;
  desk.workspace = std::make_shared<Workspace>(1, *devices);
  EXPECT_TRUE(Eventually([&] { return gone.expired(); })) << "A command keeps its session alive for good.";
}

}  // namespace
}  // namespace hlod::device
