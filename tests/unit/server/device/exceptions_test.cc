// An exception on the way of one command (memory can run out anywhere) takes nothing else with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/unit/server/device/workspace.h"

namespace hlod::device {
namespace {

using testing::ElementsAre;

TEST(Exceptions, OneStepThatFailsDoesNotStopTheNextOnes) {
  FakeClock clock;
  const std::unique_ptr<Devices> devices = MakeDevices(clock);
  Desk desk(*devices);
  const uint64_t upload = desk.Announce(1);
  DownloadRequest request;
  request.command = desk.Next();
  request.handle = 1;
  const auto failing = [](const absl::StatusOr<ReadyBytes>&) { throw std::bad_alloc(); };
  ASSERT_TRUE(desk.workspace->Download(request, failing).ok());
  const uint64_t next = desk.Download(1);
  desk.Deliver(upload);
  EXPECT_TRUE(desk.AnswerTo(next).has_value()) << "It was woken by the same upload.";
  desk.Upload(2, {1, 2, 3, 4});
  EXPECT_THAT(*desk.Read(2), ElementsAre(1, 2, 3, 4)) << "Later commands of this thread run.";
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // They end the process themselves.
TEST(Exceptions, ALiteralThatDoesNotFitIsOne) {
  EXPECT_THROW(hlo::Literal(hlo::Shape::Array(hlo::kU8, {int64_t{1} << 60})), std::bad_alloc);
}
#endif

}  // namespace
}  // namespace hlod::device
