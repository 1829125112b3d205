// Infeed, outfeed, send and recv in the evaluator, worked out by hand.
#include <algorithm>
#include <string>
#include <string_view>
#include <thread>

#include "common/base/text/strings.h"
#include "common/evaluator/evaluator.h"
#include "common/evaluator/local_channels.h"
#include "common/evaluator/participants.h"
#include "common/hlo/text/text.h"
#include "tests/support/channel_programs.h"
#include "tests/unit/common/evaluator/evaluate_one.h"

namespace hlod {
namespace {

using hlo::Channel;
using hlo::Literal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::unique_ptr<hlo::Module> Parse(std::string_view text) {
  auto module = hlo::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return nullptr;
  EXPECT_TRUE(hlo::Verify(**module).ok()) << hlo::Verify(**module);
  return *std::move(module);
}

Literal Vector(std::vector<float> values) {
  Literal literal(hlo::Shape::Array(hlo::kF32, {static_cast<int64_t>(values.size())}));
  std::ranges::copy(values, literal.data<float>().begin());
  return literal;
}
std::vector<float> Floats(const Literal& literal) {
  return {literal.data<float>().begin(), literal.data<float>().end()};
}

// kRunningSum, with an outfeed of the argument after the loop. The result does not depend on it.
std::string LoopProgram() {
  std::string program(kRunningSum);
  program.insert(program.rfind('}'), R"(  last = token[] get-tuple-element(w), index=2
  done = token[] outfeed(sum, last), outfeed_shape=f32[2]{0}
)");
  return program;
}

TEST(Transfers, ALoopTakesAndGivesAValueATurn) {
  const auto module = Parse(LoopProgram());
  LocalChannels channels(absl::Seconds(5));
  const Channel in{Channel::Kind::kInfeed}, out{Channel::Kind::kOutfeed};
  channels.Give(in, {Vector({1, 2}), Literal::Scalar<int32_t>(1)});
  channels.Give(in, {Vector({10, 20}), Literal::Scalar<int32_t>(2)});
  channels.Give(in, {Vector({100, 200}), Literal::Scalar<int32_t>(1)});  // Values for a later run.
  const Literal sum = Vector({0.5, 0.25});
  EvaluateOptions options;
  options.channels = &channels;
  const auto result = Evaluate(*module, {&sum}, options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Floats(*result), ElementsAre(11.5, 22.25));
  const auto take = [&] { return Floats(channels.Await(out, [] { return absl::OkStatus(); }).value()[0]); };
  EXPECT_THAT(take(), ElementsAre(1.5, 2.25));
  EXPECT_THAT(take(), ElementsAre(11.5, 22.25));
  EXPECT_THAT(take(), ElementsAre(0.5, 0.25));
  const auto left = channels.Await(in, [] { return absl::OkStatus(); });
  ASSERT_TRUE(left.ok());
  EXPECT_THAT(Floats((*left)[0]), ElementsAre(100, 200));
}

TEST(Transfers, WithoutChannelsOrInTimeOrOfAnotherShapeTheyAreErrors) {
  const auto module = Parse(LoopProgram());
  const Literal sum = Vector({0, 0});
  auto status = Evaluate(*module, {&sum}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(FromAbsl(status.message())), HasSubstr("infeed"));
  EvaluateOptions options;
  LocalChannels channels(absl::Milliseconds(20));
  options.channels = &channels;
  EXPECT_EQ(Evaluate(*module, {&sum}, options).status().code(), absl::StatusCode::kDeadlineExceeded);
  channels.Give({Channel::Kind::kInfeed}, {Vector({1, 2, 3}), Literal::Scalar<int32_t>(1)});
  status = Evaluate(*module, {&sum}, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(FromAbsl(status.message())),
              HasSubstr("Array 0 of a value of infeed is given as f32[3] and taken as f32[2]"));
}

TEST(Transfers, SendAndRecvWithTheHostGoByTheirChannels) {
  const auto module = Parse(kAsk);
  LocalChannels channels(absl::Seconds(5));
  // The host returns the value that it was sent.
  std::jthread host([&] {
    const auto value = channels.Await({Channel::Kind::kToHost, 7}, [] { return absl::OkStatus(); });
    ASSERT_TRUE(value.ok()) << value.status();
    const std::vector<float> x = Floats((*value)[0]);
    channels.Give({Channel::Kind::kFromHost, 8}, {Vector({x[0], x[1], x[0] + x[1]})});
  });
  const Literal x = Vector({3, 4});
  EvaluateOptions options;
  options.channels = &channels;
  const auto result = Evaluate(*module, {&x}, options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(Floats(*result), ElementsAre(3, 4, 7));
}

constexpr char kRing[] = R"(
HloModule ring, replica_count=3
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

TEST(Transfers, MembersSendToEachOtherAndNobodysValueIsZeros) {
  const auto module = Parse(kRing);
  const std::vector<Literal> own = [] {
    std::vector<Literal> values;
    for (float m = 0; m < 3; ++m) values.push_back(Vector({m + 1, 10 * (m + 1)}));
    return values;
  }();
  const auto results = EvaluateParticipants(*module, {{&own[0]}, {&own[1]}, {&own[2]}});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Floats((*results)[0]), ElementsAre(0, 0));
  EXPECT_THAT(Floats((*results)[1]), ElementsAre(1, 10));
  EXPECT_THAT(Floats((*results)[2]), ElementsAre(2, 20));
}

TEST(Transfers, PairsThatCannotBeReadAreNamed) {
  for (const auto& [pairs, message] :
       std::vector<std::pair<std::string, std::string>>{{"{{0,1},{1,3}}", "names (3) of (3) participants"},
                                                        {"{{0,1},{2}}", "an odd number of ids"},
                                                        {"{{0,one}}", "not a list of pairs"},
                                                        {"{{0,1},{0,2}}", "two pairs with one source (0)"}}) {
    std::string text = kRing;
    for (size_t at; (at = text.find("{{0,1},{1,2}}")) != std::string::npos;) text.replace(at, 13, pairs);
    const auto module = Parse(text.c_str());
    const Literal x = Vector({1, 2});
    const auto status = EvaluateParticipants(*module, {{&x}, {&x}, {&x}}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(FromAbsl(status.message())), HasSubstr(message));
  }
}

}  // namespace
}  // namespace hlod
