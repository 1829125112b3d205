// Data that is kept for a session besides its buffers is charged to it, and refused beyond its budget.
#include "server/device/session_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/hlo/builder.h"
#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

using testing::HasSubstr;

// Returns a program with a constant of `bytes`; programs of different `value`s differ.
std::string ConstantProgram(int64_t bytes, int value) {
  hlo::Module module("constant");
  hlo::Literal constant(hlo::Shape::Array(hlo::kU8, {bytes}));
  for (int64_t i = 0; i < bytes; ++i) constant.bytes()[i] = static_cast<std::byte>(i * i + value);
  hlo::Builder b(module, "main");
  EXPECT_TRUE(b.Build(b.Constant(std::move(constant))).ok());
  return hlo::Serialize(module);
}

TEST(KeptBytes, AProgramIsChargedOnceForAllItsHandlesUntilTheLastIsFreed) {
  const Clock clock;
  const std::unique_ptr<Devices> devices = MakeDevices(clock, Limits{.session_bytes_max = 300'000});
  TestSession session(*devices);
  const std::string first = ConstantProgram(200'000, 1), second = ConstantProgram(200'000, 2);
  EXPECT_TRUE(session.Await(session.Compile(1, first)).ok());
  EXPECT_TRUE(session.Await(session.Compile(2, first)).ok());
  const absl::Status refused = session.Await(session.Compile(3, second));
  EXPECT_EQ(KindOf(refused), ErrorKind::kLimit);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("session_bytes_max is 300000"));
  EXPECT_EQ(KindOf(session.Await(session.Execute(session.ExecuteOf(3, {}, {4})))), ErrorKind::kLimit);
  TestSession other(*devices, 2);
  EXPECT_TRUE(other.Await(other.Compile(1, second)).ok()) << "Another session has a budget of its own.";
  EXPECT_TRUE(session.Await(session.Free({1})).ok());
  EXPECT_FALSE(session.Await(session.Compile(5, second)).ok());
  EXPECT_TRUE(session.Await(session.Free({2})).ok());
  // A compile thread may hold the handle for a moment.
  Handle handle = 5;
  EXPECT_TRUE(Eventually([&] { return session.Await(session.Compile(++handle, second)).ok(); }));
}

TEST(KeptBytes, AnErrorThatThereIsNoRoomForIsKeptWithoutItsWords) {
  const Limits limits;
  const auto kept = KeptBudget(3000);
  const SessionErrors errors(limits, kept);
  ErrorDetails error{.kind = ErrorKind::kArgument, .root_command = 7, .text = std::string(1000, 'x')};
  error.root_origin = {"train.cc", 7, "step"};
  std::vector<std::shared_ptr<const ErrorDetails>> held;
  do {
    held.push_back(errors.Keep(error));
    ASSERT_LE(held.size(), 3u);
  } while (*held.back() == error);
  EXPECT_GE(held.size(), 2u);
  EXPECT_EQ(held.back()->kind, ErrorKind::kArgument);
  EXPECT_EQ(held.back()->root_command, 7u);
  EXPECT_EQ(held.back()->text, "Command 7 failed; it was answered why.");
  held.clear();
  EXPECT_EQ(kept->used(), 0);
  EXPECT_EQ(*errors.Keep(error), error);
}

TEST(KeptBytes, LinesAreChargedUntilTheSessionEnds) {
  const Clock clock;
  const std::unique_ptr<Devices> devices = MakeDevices(clock, Limits{.session_bytes_max = 2000});
  TestSession session(*devices);
  absl::Status answer;
  uint32_t line = 0;
  while (answer.ok()) {
    ASSERT_LT(++line, 4u);
    const Origin origin{std::string(1000, 'f'), 1, ""};
    EXPECT_TRUE(
        session.session_device->DefineOrigin(line, origin, [&](const absl::Status& a) { answer = a; }).ok());
  }
  EXPECT_EQ(line, 2u);
  EXPECT_EQ(KindOf(answer), ErrorKind::kLimit);
  EXPECT_THAT(std::string(answer.message()), HasSubstr("session_bytes_max"));
  EXPECT_EQ(session.session_device->origin(1).file.size(), 1000u);
  EXPECT_EQ(session.session_device->origin(2).file, "");
  EXPECT_TRUE(
      session.session_device->DefineOrigin(3, {"short.cc", 1, ""}, [&](const absl::Status& a) { answer = a; })
          .ok());
  EXPECT_EQ(KindOf(answer), ErrorKind::kLimit) << "A line after one that was refused keeps its number.";
  EXPECT_EQ(session.session_device->origin(2).file, "");
}

}  // namespace
}  // namespace hlod::device
