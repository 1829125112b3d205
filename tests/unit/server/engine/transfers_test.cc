// Infeed, outfeed, send and recv as steps of a plan, optimised and by the evaluator's rules. Expected values
// are worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/text/strings.h"
#include "common/evaluator/local_channels.h"
#include "common/hlo/text/text.h"
#include "tests/unit/server/engine/plan_testing.h"

namespace hlod::engine {
namespace {

using hlo::Channel;
using hlo::Literal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> Floats(const Literal& literal) {
  return {literal.data<float>().begin(), literal.data<float>().end()};
}

// A program with two infeeds whose tokens are alike, a constant that could be folded, and an outfeed in a
// branch whose result has no users.
constexpr char kProgram[] = R"(
HloModule m
none {
  ROOT p = (f32[2], token[]) parameter(0)
}
give {
  p = (f32[2], token[]) parameter(0)
  x = f32[2] get-tuple-element(p), index=0
  t = token[] get-tuple-element(p), index=1
  out = token[] outfeed(x, t), outfeed_shape=f32[2]{0}
  ROOT r = (f32[2], token[]) tuple(x, out)
}
ENTRY main {
  yes = pred[] parameter(0)
  t = token[] after-all()
  a = (f32[2], token[]) infeed(t), infeed_config="a"
  b = (f32[2], token[]) infeed(t), infeed_config="a"
  x = f32[2] get-tuple-element(a), index=0
  y = f32[2] get-tuple-element(b), index=0
  two = f32[] constant(2)
  twos = f32[2] broadcast(two), dimensions={}
  xx = f32[2] multiply(x, twos)
  z = f32[2] add(xx, y)
  bt = token[] get-tuple-element(b), index=1
  zt = (f32[2], token[]) tuple(z, bt)
  c = (f32[2], token[]) conditional(yes, zt, zt), true_computation=give, false_computation=none
  s = (f32[2], u32[], token[]) send(y, bt), channel_id=3, is_host_transfer=true
  sd = token[] send-done(s), channel_id=3, is_host_transfer=true
  sent = f32[2] get-tuple-element(s), index=0
  ROOT r = (f32[2], f32[2]) tuple(z, sent)
}
)";

class Transfers : public ::testing::TestWithParam<bool> {};

TEST_P(Transfers, StepsTakeAndGive) {
  const auto module = hlo::ParseModule(kProgram);
  ASSERT_TRUE(module.ok()) << module.status();
  const auto plan = Compile(**module, {.reference_only = GetParam()});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE((*plan)->stats().transfers);
  LocalChannels channels(absl::Seconds(5));
  const auto go = [] { return absl::OkStatus(); };
  RunContext context;
  for (const bool yes : {true, false}) {
    channels.Give({Channel::Kind::kInfeed}, {Literal::Vector<float>({1, 2})});
    channels.Give({Channel::Kind::kInfeed}, {Literal::Vector<float>({10, 20})});
    context.channels = &channels;
    const auto results = RunPlan(**plan, {Literal::Scalar<bool>(yes)}, context);
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_THAT(Floats((*results)[0]), ElementsAre(12, 24));
    EXPECT_THAT(Floats((*results)[1]), ElementsAre(10, 20));
    EXPECT_THAT(Floats(channels.Await({Channel::Kind::kToHost, 3}, go).value()[0]), ElementsAre(10, 20));
    if (!yes) continue;
    EXPECT_THAT(Floats(channels.Await({Channel::Kind::kOutfeed}, go).value()[0]), ElementsAre(12, 24));
  }
  LocalChannels none(absl::Milliseconds(10));
  context.channels = &none;
  EXPECT_EQ(RunPlan(**plan, {Literal::Scalar<bool>(true)}, context).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  context.channels = nullptr;
  const auto status = RunPlan(**plan, {Literal::Scalar<bool>(true)}, context).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(FromAbsl(status.message())), HasSubstr("infeed"));
}

TEST(TransfersPlan, AreNotAppliedToElements) {
  const auto module = hlo::ParseModule(R"(HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  t = token[] after-all()
  o = token[] outfeed(a, t), outfeed_shape=f32[]
  ROOT c = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[4] parameter(0)
  ROOT r = f32[4] sort(x), dimensions={0}, to_apply=less
})");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(std::string(Compile(**module).status().message()),
              HasSubstr("Opcode outfeed is in computation less, which is applied to elements"));
}

INSTANTIATE_TEST_SUITE_P(Forms, Transfers, ::testing::Bool());

}  // namespace
}  // namespace hlod::engine
