// Executes with channels of their own: values of one never reach another, and what is left at the end goes.
#include <gmock/gmock.h>

#include "tests/unit/server/device/session_device.h"

namespace hlod::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// f32[4] x -> the client's answer on channel 8 to x, which is sent on channel 7.
std::string AskProgram() {
  return ProgramOf(R"(HloModule ask
ENTRY main {
  x = f32[4] parameter(0)
  t = token[] after-all()
  s = (f32[4], u32[], token[]) send(x, t), channel_id=7, is_host_transfer=true
  sd = token[] send-done(s), channel_id=7, is_host_transfer=true
  r = (f32[4], u32[], token[]) recv(sd), channel_id=8, is_host_transfer=true
  rd = (f32[4], token[]) recv-done(r), channel_id=8, is_host_transfer=true
  ROOT got = f32[4] get-tuple-element(rd), index=0
}
)");
}

struct AskSession : TestSession {
  using TestSession::TestSession;
  uint64_t Ask(Handle argument, Handle result, uint64_t line) {
    ExecuteRequest request = ExecuteOf(kAsk, {argument}, {result});
    request.line = line;
    return Execute(std::move(request));
  }
  uint64_t Answer(uint64_t execution, Handle value) {
    InfeedRequest request;
    request.command = Next();
    request.channel = {.device = 0, .id = 8, .execution = execution};
    request.arguments = {value};
    const uint64_t id = request.command.id;
    EXPECT_TRUE(session_device->Infeed(std::move(request), Keep(id)).ok());
    return id;
  }
  uint64_t Listen(uint64_t execution, Handle result) {
    OutfeedRequest request;
    request.command = Next();
    request.channel = {.device = 0, .id = 7, .execution = execution};
    request.results = {result};
    request.shapes = {F32x4()};
    const uint64_t id = request.command.id;
    EXPECT_TRUE(session_device->Outfeed(std::move(request), Keep(id)).ok());
    return id;
  }
  static constexpr Handle kAsk = 1;
};

std::string Text(const absl::Status& status) { return ErrorOf(status).text; }

class OwnChannels : public ::testing::Test {
 protected:
  OwnChannels() {
    EXPECT_TRUE(session_.Await(session_.Compile(AskSession::kAsk, AskProgram())).ok());
    session_.Upload(2, {1, 2, 3, 4});
    session_.Upload(3, {5, 6, 7, 8});
  }
  FakeClock clock_;
  const std::unique_ptr<Devices> devices_ = MakeDevices(clock_, {.channel_wait_us = 20'000'000});
  AskSession session_{*devices_};
};

// The later one is answered first: the earlier one waits meanwhile, on the same channels of the same device.
TEST_F(OwnChannels, ExecutesOfSeveralLinesRunSideBySide) {
  const uint64_t outer = session_.Ask(2, 10, 1);
  EXPECT_TRUE(session_.Await(session_.Listen(outer, 11)).ok());
  const uint64_t inner = session_.Ask(3, 12, 2), innermost = session_.Ask(2, 13, 3);
  EXPECT_TRUE(session_.Await(session_.Listen(innermost, 14)).ok());
  session_.Answer(innermost, 2);
  EXPECT_TRUE(session_.Await(innermost).ok());
  EXPECT_TRUE(session_.Await(session_.Listen(inner, 15)).ok());
  session_.Answer(inner, 11);
  EXPECT_TRUE(session_.Await(inner).ok());
  session_.Answer(outer, 15);
  EXPECT_TRUE(session_.Await(outer).ok());
  EXPECT_THAT(session_.Read(12).value(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(session_.Read(10).value(), ElementsAre(5, 6, 7, 8));
}

TEST_F(OwnChannels, ExecutesOfOneLineRunInOrder) {
  const uint64_t first = session_.Ask(2, 10, 1), second = session_.Ask(3, 11, 1);
  const uint64_t of_second = session_.Listen(second, 12);
  EXPECT_TRUE(session_.Await(session_.Listen(first, 13)).ok());
  EXPECT_FALSE(session_.AnswerTo(of_second).has_value());
  session_.Answer(first, 2);
  EXPECT_TRUE(session_.Await(first).ok());
  EXPECT_TRUE(session_.Await(of_second).ok());
  session_.Answer(second, 3);
  EXPECT_TRUE(session_.Await(second).ok());
}

TEST_F(OwnChannels, WhatIsLeftAtTheEndGoes) {
  const uint64_t run = session_.Ask(2, 10, 1);
  const uint64_t never = session_.Listen(run, 11), never_either = session_.Listen(run, 12);
  session_.Answer(run, 2);
  session_.Answer(run, 3);  // Not taken.
  EXPECT_TRUE(session_.Await(run).ok());
  EXPECT_TRUE(session_.Await(never).ok());  // The value that it did send.
  EXPECT_THAT(Text(session_.Await(never_either)),
              HasSubstr("has ended: nothing more passes channel 7 to the host"));
  EXPECT_EQ(KindOf(session_.Await(session_.Listen(run, 13))), ErrorKind::kCancelled);
  EXPECT_THAT(Text(session_.Await(session_.Answer(run, 2))), HasSubstr("has ended"));
  // A buffer that a dropped value named may be consumed.
  EXPECT_TRUE(session_.Await(session_.Free({2, 3})).ok());
}

// A value whose buffer comes after the end of its execute. The execute may end before the value's command is
// read, too: then that is refused, as any value for an execute that has ended.
TEST_F(OwnChannels, ALateValueIsDropped) {
  const uint64_t upload = session_.Announce(9);
  const uint64_t run = session_.Ask(2, 10, 1);
  session_.Answer(run, 3);
  const uint64_t late = session_.Answer(run, 9);
  EXPECT_TRUE(session_.Await(run).ok());
  session_.Deliver(upload);
  if (const absl::Status end = session_.Await(late); !end.ok()) {
    EXPECT_THAT(Text(end), HasSubstr("has ended"));
  }
  EXPECT_TRUE(session_.Await(session_.Free({9})).ok());
}

TEST_F(OwnChannels, ValuesOfAnEndedExecuteAreStillTaken) {
  const uint64_t run = session_.Ask(2, 10, 1);
  session_.Answer(run, 3);
  EXPECT_TRUE(session_.Await(run).ok());
  EXPECT_TRUE(session_.Await(session_.Listen(run, 11)).ok());
  EXPECT_THAT(session_.Read(11).value(), ElementsAre(1, 2, 3, 4));
}

TEST_F(OwnChannels, ACancelledExecuteEndsItsListeners) {
  const uint64_t upload = session_.Announce(9);
  const uint64_t run = session_.Ask(9, 10, 1);
  const uint64_t listener = session_.Listen(run, 11);
  session_.session_device->Cancel(run);
  EXPECT_EQ(KindOf(session_.Await(run)), ErrorKind::kCancelled);
  EXPECT_THAT(Text(session_.Await(listener)), HasSubstr("has ended"));
  session_.Deliver(upload);
}

}  // namespace
}  // namespace hlod::device
