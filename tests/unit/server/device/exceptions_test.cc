// An exception while a command is handled (memory can run out anywhere) fails only that command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

using testing::ElementsAre;

TEST(Exceptions, OneStepThatFailsDoesNotStopTheNextOnes) {
  FakeClock clock;
  const std::unique_ptr<Devices> devices = MakeDevices(clock);
  TestSession session(*devices);
  const uint64_t upload = session.Announce(1);
  DownloadRequest request;
  request.command = session.Next();
  request.handle = 1;
  const auto failing = [](const absl::StatusOr<ReadyBytes>&) { throw std::bad_alloc(); };
  ASSERT_TRUE(session.session_device->Download(request, failing).ok());
  const uint64_t next = session.Download(1);
  session.Deliver(upload);
  EXPECT_TRUE(session.AnswerTo(next).has_value()) << "It was ready_tasks by the same upload.";
  session.Upload(2, {1, 2, 3, 4});
  EXPECT_THAT(*session.Read(2), ElementsAre(1, 2, 3, 4)) << "Later commands of this thread run.";
}

// The sanitizers end the process themselves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Exceptions, ALiteralThatDoesNotFitIsOne) {
  EXPECT_THROW(hlo::Literal(hlo::Shape::Array(hlo::kU8, {int64_t{1} << 60})), std::bad_alloc);
}
#endif

}  // namespace
}  // namespace hlod::device
