// The order of accesses to a buffer: reads and donations take effect in the order in which they were sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

using testing::ElementsAre;

class Order : public testing::Test {
 protected:
  FakeClock clock;
  std::unique_ptr<Devices> devices = MakeDevices(clock);
  TestSession session{*devices};
};

TEST_F(Order, PinnedBytesStayThoughTheSessionGivesTheBufferAway) {
  ASSERT_TRUE(session.Await(session.Compile(1, DoubleInPlaceProgram())).ok());
  session.Upload(2, {1, 2, 3, 4});
  const uint64_t read = session.Download(2, /*pin=*/true);
  ASSERT_TRUE(session.Await(read).ok());
  // A stream whose client has stopped reading holds the bytes like this.
  ReadyBytes held = session.reads.at(read);
  session.reads.clear();  // The client acknowledges the read.
  ASSERT_TRUE(session.Await(session.Execute(session.ExecuteOf(1, {2}, {3}, {0}))).ok());
  EXPECT_THAT(session.Values(held), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(*session.Read(3), ElementsAre(2, 4, 6, 8));
  session.Free({3});
  TestSession other(*devices, 2);
  for (Handle handle = 1; handle <= 8; ++handle) other.Upload(handle, {9, 9, 9, 9});
  EXPECT_THAT(session.Values(held), ElementsAre(1, 2, 3, 4)) << "Another session's bytes.";
  const int64_t used = devices->device(0).memory.figures().used_bytes;
  held = {};
  EXPECT_EQ(devices->device(0).memory.figures().used_bytes, used - 16) << "The pin was the last holder.";
}

TEST_F(Order, WithoutAPinTheResultTakesTheDonatedMemory) {
  ASSERT_TRUE(session.Await(session.Compile(1, DoubleInPlaceProgram())).ok());
  session.Upload(2, {1, 2, 3, 4});
  const uint64_t read = session.Download(2, /*pin=*/true);
  ASSERT_TRUE(session.Await(read).ok());
  const std::byte* const place = session.reads.at(read).data;
  session.reads.clear();
  ASSERT_TRUE(session.Await(session.Execute(session.ExecuteOf(1, {2}, {3}, {0}))).ok());
  const uint64_t result = session.Download(3);
  ASSERT_TRUE(session.Await(result).ok());
  EXPECT_EQ(session.reads.at(result).data, place);
}

TEST_F(Order, ACancelledDonationStillWaitsForTheReadsBeforeIt) {
  ASSERT_TRUE(session.Await(session.Compile(1, DoubleInPlaceProgram())).ok());
  session.Upload(2, {1, 2, 3, 4});
  const uint64_t read = session.Download(2);  // The copy is not done until EndRead.
  ASSERT_TRUE(session.Await(read).ok());
  const uint64_t first = session.Execute(session.ExecuteOf(1, {2}, {3}, {0}));
  session.session_device->Cancel(first);
  EXPECT_EQ(KindOf(session.Await(first)), ErrorKind::kCancelled) << "Told at once.";
  EXPECT_EQ(KindOf(session.Read(3).status()), ErrorKind::kCancelled);
  const uint64_t second = session.Execute(session.ExecuteOf(1, {2}, {4}, {0}));
  EXPECT_FALSE(session.AnswerTo(second).has_value());
  EXPECT_THAT(session.Values(session.reads.at(read)), ElementsAre(1, 2, 3, 4))
      << "The second one writes into what is being read.";
  session.EndRead(read);
  ASSERT_TRUE(session.Await(second).ok());
  EXPECT_THAT(*session.Read(4), ElementsAre(2, 4, 6, 8));
}

TEST_F(Order, ACancelledDonationDoesNotHideTheOneBeforeIt) {
  ASSERT_TRUE(session.Await(session.Compile(1, AddProgram())).ok());
  session.Upload(2, {1, 2, 3, 4});
  const uint64_t late = session.Announce(3);
  const uint64_t first = session.Execute(session.ExecuteOf(1, {2, 3}, {4}, {0}));
  const uint64_t second = session.Execute(session.ExecuteOf(1, {2, 3}, {5}, {0}));
  session.session_device->Cancel(second);
  const uint64_t read = session.Download(2);
  EXPECT_FALSE(session.AnswerTo(read).has_value()) << "Whether the first one consumes it is not known yet.";
  session.Deliver(late);
  EXPECT_TRUE(session.Await(first).ok());
  EXPECT_EQ(KindOf(session.Await(read)), ErrorKind::kDonated);
}

// Keeps a device busy with work of the session until it is destroyed. Work of other sessions could run
// meanwhile.
struct Busy {
  Busy(Devices& devices, uint64_t session) {
    devices.device(0).queue.Submit(session, 1e9, [gate = gate] { gate->WaitForNotification(); });
  }
  ~Busy() {
    if (!gate->HasBeenNotified()) gate->Notify();
  }
  // Shared, because the device may still use it after the test.
  const std::shared_ptr<absl::Notification> gate = std::make_shared<absl::Notification>();
};

TEST_F(Order, ADeadSessionsQueuedWorkHoldsNoMemory) {
  TestSession dead(*devices, 2);
  ASSERT_TRUE(dead.Await(dead.Compile(1, AddProgram())).ok());
  dead.Upload(2, {1, 2, 3, 4});
  Busy busy(*devices, 2);
  for (Handle result = 3; result < 10; ++result) dead.Execute(dead.ExecuteOf(1, {2, 2}, {result}));
  dead.session_device->Close();
  EXPECT_EQ(devices->device(0).memory.figures().used_bytes, 0);
  EXPECT_EQ(dead.session_device->account()->figures().live_bytes, 0);
}

TEST_F(Order, CancelOfAQueuedExecuteIsAnsweredAtOnce) {
  ASSERT_TRUE(session.Await(session.Compile(1, AddProgram())).ok());
  session.Upload(2, {1, 2, 3, 4});
  Busy busy(*devices, 1);
  const uint64_t execute = session.Execute(session.ExecuteOf(1, {2, 2}, {3}, {0}));
  session.session_device->Cancel(execute);
  ASSERT_TRUE(session.AnswerTo(execute).has_value());
  EXPECT_EQ(KindOf(*session.AnswerTo(execute)), ErrorKind::kCancelled);
  EXPECT_THAT(*session.Read(2), ElementsAre(1, 2, 3, 4)) << "It never started: nothing is consumed.";
}

TEST_F(Order, CommandsAfterTheEndDoNothing) {
  ASSERT_TRUE(session.Await(session.Compile(1, AddProgram())).ok());
  session.session_device->Close();
  const std::vector<uint64_t> late = {session.Upload(2, {1, 2, 3, 4}),
                                      session.Announce(3),
                                      session.Placeholder(4),
                                      session.Execute(session.ExecuteOf(1, {2, 3}, {5})),
                                      session.Download(2),
                                      session.Free({2}),
                                      session.Compile(6, DoubleInPlaceProgram())};
  for (const uint64_t command : late)
    EXPECT_FALSE(session.AnswerTo(command).has_value()) << "Command " << command;
  EXPECT_EQ(devices->device(0).memory.figures().used_bytes, 0);
  EXPECT_EQ(session.session_device->account()->figures().simulated_live_bytes, 0);
  std::weak_ptr<SessionDevice> gone = session.session_device;
  session.session_device = std::make_shared<SessionDevice>(1, *devices);
  EXPECT_TRUE(Eventually([&] { return gone.expired(); })) << "A command keeps its session alive for good.";
}

}  // namespace
}  // namespace hlod::device
