// Copies between the devices of a daemon.
#include <gmock/gmock.h>

#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct CopySession : TestSession {
  using TestSession::TestSession;
  uint64_t Copy(Handle source, Handle copy, uint32_t device = 1) {
    const CopyRequest request = {.command = Next(), .source = source, .handle = copy, .device = device};
    EXPECT_TRUE(session_device->Copy(request, Keep(request.command.id)).ok());
    return request.command.id;
  }
  int64_t used(uint32_t device) { return devices.device(device).memory.figures().used_bytes; }
};

class Copies : public ::testing::Test {
 protected:
  FakeClock clock_;
  const std::unique_ptr<Devices> devices_ = MakeDevices(clock_, {}, 64 << 20, 2);
  CopySession session_{*devices_};
};

TEST_F(Copies, ACopyWaitsForItsSourceAndIsIndependent) {
  const uint64_t upload = session_.Announce(1);
  const uint64_t copy = session_.Copy(1, 2);
  const uint64_t read = session_.Download(2);
  EXPECT_FALSE(session_.AnswerTo(copy).has_value());
  session_.Deliver(upload);
  EXPECT_TRUE(session_.Await(copy).ok());
  EXPECT_TRUE(session_.Await(read).ok());
  session_.EndRead(read);
  EXPECT_TRUE(session_.Await(session_.Free({1})).ok());
  EXPECT_THAT(session_.Read(2).value(), ElementsAre(0, 0, 0, 0));
  EXPECT_GT(session_.used(1), 0);
}

// The program that consumes the source in place waits for the copy.
TEST_F(Copies, ACopyHasTheValueFromBeforeADonation) {
  EXPECT_TRUE(session_.Await(session_.Compile(1, DoubleInPlaceProgram())).ok());
  std::vector<float> values(1 << 20, 3);  // Copied by the transfer thread.
  values.resize(4);
  session_.Upload(2, values);
  session_.Copy(2, 3);
  session_.Execute(session_.ExecuteOf(1, {2}, {4}, {0}));
  EXPECT_THAT(session_.Read(3).value(), ElementsAre(3, 3, 3, 3));
  EXPECT_THAT(session_.Read(4).value(), ElementsAre(6, 6, 6, 6));
}

TEST_F(Copies, ALargeCopyIsMadeByTheTransferThread) {
  session_.Upload(1, std::vector<float>(1 << 20, 7));
  EXPECT_TRUE(session_.Await(session_.Copy(1, 2)).ok());
  const std::vector<float> values = session_.Read(2).value();
  EXPECT_EQ(values, std::vector<float>(1 << 20, 7));
}

TEST_F(Copies, ACopyIsCountedOnItsDeviceAndNotAsAHostTransfer) {
  session_.Upload(1, {1, 2, 3, 4});
  EXPECT_TRUE(session_.Await(session_.Copy(1, 2)).ok());
  int64_t copied = 0;
  const Account account = session_.session_device->ledger().account();
  for (const Row& row : account.rows) {
    if (row.key.cause != Cause::kDeviceCopy) continue;
    EXPECT_EQ(row.key.device, 1);
    copied += row.amount.bytes;
  }
  EXPECT_EQ(copied, 16);
  EXPECT_EQ(account.directions[static_cast<int>(Direction::kHostToDevice)].bytes, 16);  // The upload.
  EXPECT_EQ(account.directions[static_cast<int>(Direction::kDeviceToHost)].bytes, 0);
}

TEST_F(Copies, ACopyOfAPlaceholderIsOne) {
  session_.Placeholder(1);
  EXPECT_TRUE(session_.Await(session_.Copy(1, 2)).ok());
  EXPECT_EQ(KindOf(session_.Await(session_.Download(2))), ErrorKind::kPlaceholder);
  EXPECT_EQ(session_.used(1), 0);
  EXPECT_EQ(session_.session_device->account()->figures().simulated_live_bytes, 32);
}

TEST_F(Copies, ErrorsAreThoseOfTheSourceAndOfTheDevice) {
  session_.Upload(1, {1, 2, 3, 4});
  EXPECT_THAT(ErrorOf(session_.Await(session_.Copy(1, 2, 5))).text, HasSubstr("evice"));
  EXPECT_EQ(KindOf(session_.Await(session_.Copy(99, 3))), ErrorKind::kUnknownHandle);
  EXPECT_FALSE(session_.Read(3).ok());
  const uint64_t upload = session_.Announce(4);
  const uint64_t copy = session_.Copy(4, 5);
  session_.session_device->Cancel(upload);
  EXPECT_FALSE(session_.Await(copy).ok());
  EXPECT_FALSE(session_.Read(5).ok());
}

TEST_F(Copies, ACopyThatFindsNoMemoryFails) {
  const std::unique_ptr<Devices> devices = MakeDevices(clock_, {}, 6 << 20, 2);
  CopySession session(*devices);
  session.Upload(1, std::vector<float>(1 << 20));
  EXPECT_TRUE(session.Await(session.Copy(1, 2)).ok());
  EXPECT_EQ(KindOf(session.Await(session.Copy(1, 3))), ErrorKind::kNoMemory);
}

TEST_F(Copies, AWaitingCopyIsCancelledAndEndsWithItsSession) {
  session_.Announce(1);
  const uint64_t copy = session_.Copy(1, 2);
  session_.session_device->Cancel(copy);
  EXPECT_EQ(KindOf(session_.Await(copy)), ErrorKind::kCancelled);
  session_.Copy(1, 3);
}

}  // namespace
}  // namespace hlod::device
