// Infeed, outfeed, send and recv through a daemon, with the client as the host. XLA's CPU client cannot feed
// a program, so expected values are computed by hand.
#include <gmock/gmock.h>

#include <fstream>

#include "common/hlo/elements/npy.h"
#include "tests/integration/support/hloctl.h"
#include "tests/support/channel_programs.h"

namespace hlod {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// f32[2] x -> the x of the participant before it; participant 0 gets zeros.
constexpr std::string_view kShift = R"(
HloModule shift, replica_count=3
ENTRY main {
  x = f32[2] parameter(0)
  t = token[] after-all()
  r = (f32[2], u32[], token[]) recv(t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,2}}"}
  s = (f32[2], u32[], token[]) send(x, t), channel_id=1, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1},{1,2}}"}
  rd = (f32[2], token[]) recv-done(r), channel_id=1
  sd = token[] send-done(s), channel_id=1
  ROOT got = f32[2] get-tuple-element(rd), index=0
}
)";

class Channels : public Hloctl {
 protected:
  Buffer Vector(std::initializer_list<float> values, int device = 0) {
    return Must(client_->device(device).Upload(Literal::Vector<float>(values)));
  }
  Buffer Number(int32_t value) { return Must(client_->device(0).Upload(Literal::Scalar<int32_t>(value))); }
  static std::vector<float> Floats(const Buffer& buffer) {
    const Literal literal = Must(buffer.ToLiteral());
    return {literal.data<float>().begin(), literal.data<float>().end()};
  }
  Device device() { return client_->device(0); }
};
const Shape kPair = Shape::Array(hlo::kF32, {2});

TEST_F(Channels, ALoopTakesAndGivesWhileItRuns) {
  const Executable program = Must(client_->CompileText(kRunningSum));
  ASSERT_OK(device().TransferToInfeed({Vector({1, 2}), Number(1)}));
  Execution run = Must(program.Start({Vector({0.5, 0.25})}));
  // The first iteration's sum arrives while the program waits for the second iteration's value.
  const Buffer first = Must(device().TransferFromOutfeed({kPair}))[0];
  EXPECT_THAT(Floats(first), ElementsAre(1.5, 2.25));
  ASSERT_OK(device().TransferToInfeed({Vector({10, 20}), Number(2)}));
  EXPECT_THAT(Floats(run.results[0]), ElementsAre(11.5, 22.25));
  const Buffer second = Must(device().TransferFromOutfeed({kPair}))[0];
  EXPECT_THAT(Floats(second), ElementsAre(11.5, 22.25));
}

TEST_F(Channels, ResultsOfExecutesAreFedAndTakenValuesAreArguments) {
  const Executable program = Must(client_->CompileText(kRunningSum)),
                   add = Must(client_->CompileText(AddProgram(2)));
  const Buffer both = Must(add.Execute({Vector({1, 2}), Vector({3, 4})}))[0];
  ASSERT_OK(device().TransferToInfeed({both, Number(3)}));
  // Requested before the program that sends it.
  const Buffer out = Must(device().TransferFromOutfeed({kPair}))[0];
  const Buffer sum = Must(add.Execute({out, Vector({100, 100})}))[0];
  Must(program.Execute({Vector({0, 0})}));
  EXPECT_THAT(Floats(sum), ElementsAre(104, 106));
  EXPECT_THAT(Floats(both), ElementsAre(4, 6));
}

// The infeed's value is computed by a program that starts after the one that waits for it.
TEST_F(Channels, AProgramThatWaitsLeavesItsDeviceToOthers) {
  const Executable program = Must(client_->CompileText(kRunningSum)),
                   add = Must(client_->CompileText(AddProgram(2)));
  // The first execute compiles the program.
  ASSERT_OK(Must(add.Execute({Vector({1, 2}), Vector({3, 4})}))[0].ready().Await());
  const Execution run = Must(program.Start({Vector({0, 0})}));
  const Client other = Must(Client::Connect({.address = daemon_->address()}));
  const Executable forever = Must(other.CompileText(kForever));
  Buffer sum = Vector({0, 0});
  for (int round = 1; round <= 3; ++round) {
    sum = Must(add.Execute({sum, Vector({1, 10})}))[0];
    ASSERT_OK(device().TransferToInfeed({sum, Number(1)}));
  }
  EXPECT_THAT(Floats(run.results[0]), ElementsAre(1 + 2 + 3, 10 + 20 + 30));
  // The program also waits beside another session's long one.
  const Execution waiting = Must(program.Start({Vector({0, 0})}));
  const Execution busy = Must(forever.Start({Must(other.device(0).Upload(Literal::Scalar<int32_t>(0)))}));
  ASSERT_OK(device().TransferToInfeed({Vector({5, 6}), Number(3)}));
  EXPECT_THAT(Floats(waiting.results[0]), ElementsAre(5, 6));
  EXPECT_FALSE(busy.done.Ready());
  busy.Cancel();
}

TEST_F(Channels, TheHostAnswersWhatItIsSent) {
  const Executable ask = Must(client_->CompileText(kAsk));
  for (const float round : {1.0F, 2.0F}) {
    Execution run = Must(ask.Start({Vector({round, 4})}));
    const std::vector<float> asked = Floats(Must(device().TransferFromOutfeed({kPair}, 7))[0]);
    EXPECT_THAT(asked, ElementsAre(round, 4));
    ASSERT_OK(device().TransferToInfeed({Vector({asked[0], asked[1], asked[0] + asked[1]})}, 8));
    EXPECT_THAT(Floats(run.results[0]), ElementsAre(round, 4, round + 4));
  }
}

TEST_F(Channels, MembersSendToEachOther) {
  StartDaemon({.flags = {"--devices", "3"}});
  const Executable shift = Must(client_->CompileText(kShift));
  std::vector<std::vector<Argument>> arguments;
  for (int m = 0; m < 3; ++m)
    arguments.push_back({Vector({static_cast<float>(m + 1), static_cast<float>(10 * (m + 1))}, m)});
  for (int round = 0; round < 2; ++round) {
    const auto results = Must(shift.ExecuteParticipants(arguments));
    EXPECT_THAT(Floats(results[0][0]), ElementsAre(0, 0));
    EXPECT_THAT(Floats(results[1][0]), ElementsAre(1, 10));
    EXPECT_THAT(Floats(results[2][0]), ElementsAre(2, 20));
  }
}

TEST_F(Channels, WhatIsWrongFailsTheProgramByName) {
  StartDaemon({.flags = {"--channel-wait-us", "50000"}});
  const Executable program = Must(client_->CompileText(kRunningSum));
  const auto why = [&] {
    const auto results = program.Execute({Vector({0, 0})});
    return std::string((results.ok() ? (*results)[0].ready().Await() : results.status()).message());
  };
  EXPECT_THAT(why(), HasSubstr("No value came on infeed of device 0 within channel_wait_us (50000)"));
  // The value has another shape.
  ASSERT_OK(device().TransferToInfeed({Vector({1, 2, 3}), Number(3)}));
  EXPECT_THAT(why(), HasSubstr("Array 0 of a value of infeed is given as f32[3] and taken as f32[2]"));
  // The value has another number of arrays.
  ASSERT_OK(device().TransferToInfeed({Vector({1, 2})}));
  EXPECT_THAT(why(), HasSubstr("A value of infeed is given as 1 arrays and taken as 2"));
  // The value has failed.
  const Executable bad = Must(client_->CompileText(kRunningSum));
  ASSERT_OK(device().TransferToInfeed({Vector({1, 2}), Must(program.Execute({Vector({0, 0})}))[0]}));
  EXPECT_THAT(why(), HasSubstr("channel_wait_us (50000)"));
  // Outfeeds are checked, too.
  ASSERT_OK(device().TransferToInfeed({Vector({1, 2}), Number(3)}));
  const Buffer wrong = Must(device().TransferFromOutfeed({Shape::Array(hlo::kS32, {2})}))[0];
  EXPECT_EQ(why(), "");
  EXPECT_THAT(std::string(wrong.ToLiteral().status().message()),
              HasSubstr("Array 0 of a value of outfeed is given as f32[2] and taken as s32[2]"));
  const Buffer placeholder = Must(device().Placeholder(kPair));
  EXPECT_EQ(KindOf(device().TransferToInfeed({placeholder, Number(1)})), ErrorKind::kPlaceholder);
}

TEST_F(Channels, AWaitingProgramIsCancelledAndAbstractOnesAreRefused) {
  const Executable program = Must(client_->CompileText(kRunningSum));
  Execution run = Must(program.Start({Vector({0, 0})}));
  run.Cancel();
  EXPECT_EQ(KindOf(run.done.Await()), ErrorKind::kCancelled);
  ExecuteOptions abstract;
  abstract.abstract = true;
  const auto refused = program.Execute({Must(device().Placeholder(kPair))}, abstract);
  const absl::Status why = refused.ok() ? (*refused)[0].ready().Await() : refused.status();
  EXPECT_EQ(KindOf(why), ErrorKind::kUnimplemented) << why;
  // The device can be used again.
  ASSERT_OK(device().TransferToInfeed({Vector({1, 2}), Number(3)}));
  EXPECT_THAT(Floats(Must(program.Execute({Vector({0, 0})}))[0]), ElementsAre(1, 2));
}

TEST_F(Channels, AnotherSessionsShortProgramRunsMeanwhileAndItsChannelsAreItsOwn) {
  const Executable program = Must(client_->CompileText(kRunningSum));
  const Execution waiting = Must(program.Start({Vector({0, 0})}));
  const Client other = Must(Client::Connect({.address = daemon_->address()}));
  const Executable add = Must(other.CompileText(AddProgram(2)));
  const Buffer x = Must(other.device(0).Upload(Literal::Vector<float>({1, 2})));
  // Belongs to the other session: this session's program does not see it.
  ASSERT_OK(other.device(0).TransferToInfeed({x, x}));
  EXPECT_THAT(Floats(Must(add.Execute({x, x}))[0]), ElementsAre(2, 4));
  EXPECT_FALSE(waiting.done.Ready());
  ASSERT_OK(device().TransferToInfeed({Vector({5, 6}), Number(3)}));
  EXPECT_THAT(Floats(waiting.results[0]), ElementsAre(5, 6));
}

TEST_F(Channels, MemoryOfValuesIsTheSessionsAndComesBack) {
  StartDaemon({.flags = {"--channel-values-max", "2", "--channel-wait-us", "50000"}});
  const Executable program = Must(client_->CompileText(kRunningSum));
  {
    const Buffer x = Vector({1, 2}), k = Number(0);
    ASSERT_OK(device().TransferToInfeed({x, k}));
    ASSERT_OK(device().TransferToInfeed({x, k}));
    ASSERT_OK(
        device().TransferToInfeed({x, k}));  // The third is refused; the first makes room for an outfeed.
  }
  ASSERT_OK(client_->Sync());
  // The program takes two values; each makes room for its sum. Then no value comes.
  const absl::Status status = Must(program.Execute({Vector({0, 0})}))[0].ready().Await();
  EXPECT_EQ(KindOf(status), ErrorKind::kPending) << status;
  EXPECT_THAT(Floats(Must(device().TransferFromOutfeed({kPair}))[0]), ElementsAre(1, 2));
  EXPECT_THAT(Floats(Must(device().TransferFromOutfeed({kPair}))[0]), ElementsAre(2, 4));
  const SessionStats stats = Must(client_->Stats());
  EXPECT_EQ(stats.live_bytes, 0);
}

TEST_F(Channels, HloctlFeedsAndPrints) {
  std::ofstream(folder_ / "sum.hlo") << kRunningSum;
  ASSERT_OK(hlo::WriteNpy(File("x.npy"), Literal::Vector<float>({1, 2})));
  ASSERT_OK(hlo::WriteNpy(File("y.npy"), Literal::Vector<float>({10, 20})));
  ASSERT_OK(hlo::WriteNpy(File("one.npy"), Literal::Scalar<int32_t>(1)));
  ASSERT_OK(hlo::WriteNpy(File("two.npy"), Literal::Scalar<int32_t>(2)));
  const std::string feeds =
      " --infeed " + File("x.npy") + " --infeed " + File("one.npy") + " --infeed " + File("y.npy");
  const Output ran =
      Run("run " + File("sum.hlo") + feeds + " --infeed " + File("two.npy") + " --outfeed 2 --repeat 2");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("result 0: f32[2] {11, 22}"));
  EXPECT_THAT(ran.text, HasSubstr("outfeed0: f32[2] {1, 2}"));
  EXPECT_THAT(ran.text, HasSubstr("outfeed1: f32[2] {11, 22}"));
  const Output fewer =
      Run("run " + File("sum.hlo") + feeds + " --infeed " + File("two.npy") + " --outfeed 3");
  EXPECT_EQ(fewer.code, 2) << fewer.text;
  EXPECT_THAT(fewer.text,
              HasSubstr("without sending outfeed2, which --outfeed asks for (it sent 2 of 3 arrays)"));
  const Output few = Run("run " + File("sum.hlo") + feeds);
  EXPECT_EQ(few.code, 2) << few.text;
  EXPECT_THAT(few.text, HasSubstr("Value 1 of --infeed has 2 arrays, but only 1 files are left for it."));
  const Output none = Run("run " + File("add.hlo") + " --infeed " + File("x.npy"));
  EXPECT_EQ(none.code, 2) << none.text;
  EXPECT_THAT(none.text, HasSubstr("the program has no infeed"));
  std::ofstream(folder_ / "ask.hlo") << kAsk;
  ASSERT_OK(hlo::WriteNpy(File("z.npy"), Literal::Vector<float>({7, 8, 9})));
  const Output asked = Run("run " + File("ask.hlo") + " --arg " + File("x.npy") +
                           " --infeed 8=" + File("z.npy") + " --outfeed 7=1");
  EXPECT_EQ(asked.code, 0) << asked.text;
  EXPECT_THAT(asked.text, HasSubstr("result 0: f32[3] {7, 8, 9}"));
  EXPECT_THAT(asked.text, HasSubstr("send7.0: f32[2] {1, 2}"));
}

}  // namespace
}  // namespace hlod
