// Commands as large as the wire allows: their time grows linearly with their size. Where it grew with its
// square, a step would take longer than the test may.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

class Scale : public testing::Test {
 protected:
  FakeClock clock;
  std::unique_ptr<Devices> devices = MakeDevices(clock);
  TestSession session{*devices};
};

TEST_F(Scale, OneHandleNamedManyTimes) {
  session.Upload(1, {1, 2, 3, 4});
  const uint64_t late = session.Announce(2);
  session.Compile(3, AddProgram());
  std::vector<Handle> arguments(300'000, 1);
  arguments.push_back(2);
  session.Execute(session.ExecuteOf(3, arguments, {4}));
  session.Deliver(late);
  EXPECT_EQ(KindOf(session.Read(4).status()), ErrorKind::kArgument);
}

TEST_F(Scale, ManyWaitingReadersOfOneBuffer) {
  const uint64_t late = session.Announce(1);
  ASSERT_TRUE(session.Await(session.Compile(2, AddProgram())).ok());
  for (Handle result = 3; result < 60'003; ++result) session.Execute(session.ExecuteOf(2, {1, 1}, {result}));
  session.Deliver(late);
  EXPECT_TRUE(session.Read(60'002).ok());
}

TEST_F(Scale, ManyDonationsAndFills) {
  std::vector<Handle> arguments;
  for (Handle handle = 1; handle <= 100'000; ++handle) {
    session.Placeholder(handle, hlo::Shape::Array(hlo::kF32, {}));
    arguments.push_back(handle);
  }
  std::vector<uint32_t> indices;
  for (uint32_t i = 0; i < arguments.size(); ++i) indices.push_back(i);
  session.Compile(100'001, AddProgram());
  ExecuteRequest request = session.ExecuteOf(100'001, arguments, arguments, indices);
  request.fills = indices;
  const uint64_t execute = session.Execute(std::move(request));
  EXPECT_FALSE(session.Await(execute).ok());
}

// Compares with an execute of the same length whose arguments exist.
TEST_F(Scale, WaitingExecutesAreBoundedByTheirArguments) {
  const std::unique_ptr<Devices> small = MakeDevices(clock, {.staging_bytes_max = 1 << 20});
  TestSession limited(*small);
  limited.Upload(1, {1, 2, 3, 4});
  const uint64_t late = limited.Announce(2);
  ASSERT_TRUE(limited.Await(limited.Compile(3, AddProgram())).ok());
  // Each execute waits for handle 2 and has 10,000 arguments of about 32 bytes: three fit into a mebibyte.
  std::vector<Handle> arguments(10'000, 1);
  arguments.push_back(2);
  absl::Status refused;
  Handle result = 4;
  for (; result < 1000 && refused.ok(); ++result) {
    const uint64_t execute = limited.Execute(limited.ExecuteOf(3, arguments, {result}));
    refused = limited.AnswerTo(execute).value_or(absl::OkStatus());
  }
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit);
  EXPECT_THAT(ErrorOf(refused).text, testing::HasSubstr("staging_bytes_max is 1048576"));
  EXPECT_LT(result, 50u);
  limited.Deliver(late);
  // The waiting executes have ended (with an error: "add" takes two arguments), and their memory is free
  // again.
  EXPECT_TRUE(limited.Await(limited.Execute(limited.ExecuteOf(3, {1, 2}, {1000}))).ok());
  const uint64_t again = limited.Announce(1001);
  EXPECT_FALSE(limited.AnswerTo(limited.Execute(limited.ExecuteOf(3, arguments, {1002}))).has_value() &&
               KindOf(*limited.AnswerTo(limited.last_command)) == ErrorKind::kLimit);
  limited.Deliver(again);
}

TEST_F(Scale, AMillionUnknownArgumentsAreOneShortError) {
  session.Compile(2, AddProgram());
  session.Execute(session.ExecuteOf(2, std::vector<Handle>(1'000'000, 99), {4}));
  const absl::Status status = session.Read(4).status();
  EXPECT_EQ(KindOf(status), ErrorKind::kUnknownHandle);
  EXPECT_LT(status.message().size(), 1000u);
}

TEST_F(Scale, FillsAndDonationsAreAtMostAsManyAsResultsAndArguments) {
  session.Compile(1, AddProgram());
  session.Placeholder(2);
  session.Upload(3, {1, 2, 3, 4});
  ExecuteRequest fills = session.ExecuteOf(1, {3, 3}, {2});
  fills.fills = {0, 0};
  EXPECT_THAT(ErrorOf(session.Await(session.Execute(std::move(fills)))).text,
              testing::HasSubstr("fills names 2 results of 1"));
  ExecuteRequest donated = session.ExecuteOf(1, {3, 3}, {4}, {0, 1, 0});
  EXPECT_THAT(ErrorOf(session.Await(session.Execute(std::move(donated)))).text,
              testing::HasSubstr("donated names 3 arguments of 2"));
  EXPECT_EQ(session.Read(3).value(), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(Scale, OneBufferIsNotDonatedTwiceInWhicheverOrder) {
  ASSERT_TRUE(session.Await(session.Compile(1, AddProgram())).ok());
  session.Upload(2, {1, 2, 3, 4});
  EXPECT_EQ(KindOf(session.Await(session.Execute(session.ExecuteOf(1, {2, 2}, {3}, {1, 0})))),
            ErrorKind::kArgument);
  EXPECT_TRUE(session.Read(2).ok());
}

}  // namespace
}  // namespace hlod::device
