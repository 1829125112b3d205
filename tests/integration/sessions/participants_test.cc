// Programs of several participants through a daemon: results, and what happens to the others when one does
// not arrive.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_replace.h"
#include "common/hlo/elements/npy.h"
#include "tests/integration/support/hloctl.h"

namespace hlod {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view kAdd = R"(
add {
  p = s32[] parameter(0)
  q = s32[] parameter(1)
  ROOT r = s32[] add(p, q)
}
)";

// s32[2] x -> the sum of all participants' x.
const std::string kSum = "HloModule sum, replica_count=4\n" + std::string(kAdd) +
                         "ENTRY e {\n x = s32[2] parameter(0)\n"
                         " ROOT y = s32[2] all-reduce(x), replica_groups={}, to_apply=add\n}\n";

// s32[] x -> participant `late` loops for ever before the others' sum.
const std::string kLate = "HloModule late, replica_count=4\n" + std::string(kAdd) + R"(
cond {
  s = u32[] parameter(0)
  two = u32[] constant(2)
  ROOT c = pred[] compare(s, two), direction=EQ
}
body {
  s = u32[] parameter(0)
  ROOT t = u32[] copy(s)
}
ENTRY e {
  x = s32[] parameter(0)
  r = u32[] replica-id()
  w = u32[] while(r), condition=cond, body=body
  v = s32[] convert(w)
  y = s32[] add(x, v)
  ROOT z = s32[] all-reduce(y), replica_groups={}, to_apply=add
}
)";

// s32[] x -> participant 2 takes the branch without the sum.
const std::string kAbsent = "HloModule absent, replica_count=4\n" + std::string(kAdd) + R"(
sum {
  x = s32[] parameter(0)
  ROOT y = s32[] all-reduce(x), replica_groups={}, to_apply=add
}
none {
  ROOT x = s32[] parameter(0)
}
ENTRY e {
  x = s32[] parameter(0)
  r = u32[] replica-id()
  two = u32[] constant(2)
  p = pred[] compare(r, two), direction=NE
  ROOT y = s32[] conditional(p, x, x), true_computation=sum, false_computation=none
}
)";

// s32[] x -> an endless loop with a sum in each iteration.
const std::string kForeverTogether = "HloModule together, replica_count=4\n" + std::string(kAdd) + R"(
cond {
  s = s32[] parameter(0)
  ROOT c = pred[] constant(true)
}
body {
  s = s32[] parameter(0)
  ROOT t = s32[] all-reduce(s), replica_groups={}, to_apply=add
}
ENTRY e {
  x = s32[] parameter(0)
  ROOT w = s32[] while(x), condition=cond, body=body
}
)";

class Participants : public Hloctl {
 protected:
  void SetUp() override {
    Hloctl::SetUp();
    StartDaemon({.flags = {"--devices", "4"}});
  }

  // One scalar per participant, on devices 0 to 3.
  std::vector<Argument> Numbers() {
    std::vector<Argument> arguments;
    for (int m = 0; m < 4; ++m)
      arguments.emplace_back(Must(client_->device(m).Upload(Literal::Scalar<int32_t>(m))));
    return arguments;
  }
  static std::string Text(const absl::Status& status) { return std::string(status.message()); }
};

TEST_F(Participants, EachGetsTheSum) {
  const Executable sum = Must(client_->CompileText(kSum));
  EXPECT_EQ(sum.replica_count(), 4);
  EXPECT_EQ(sum.partition_count(), 1);
  std::vector<std::vector<Argument>> arguments;
  for (int m = 0; m < 4; ++m)
    arguments.push_back({Must(client_->device(m).Upload(Literal::Vector<int32_t>({m, 10 * m})))});
  const auto results = Must(sum.ExecuteParticipants(arguments));
  ASSERT_EQ(results.size(), 4u);
  for (int m = 0; m < 4; ++m) {
    ASSERT_EQ(results[m].size(), 1u);
    EXPECT_EQ(results[m][0].device(), m);
    EXPECT_EQ(Must(results[m][0].ToLiteral()), Literal::Vector<int32_t>({6, 60}));
  }
}

TEST_F(Participants, DevicesGoInTheOrderThatIsGiven) {
  const Executable ids = Must(client_->CompileText(
      "HloModule ids, num_partitions=2\nENTRY e {\n p = u32[] partition-id()\n"
      " ROOT r = u32[] collective-permute(p), channel_id=1, source_target_pairs={{1,0}}\n}\n"));
  const auto results = Must(ids.ExecuteParticipants({{}, {}}, {.devices = {3, 1}}));
  EXPECT_EQ(results[0][0].device(), 3);
  EXPECT_EQ(Must(results[0][0].ToLiteral()), Literal::Scalar<uint32_t>(1));
  EXPECT_EQ(results[1][0].device(), 1);
  EXPECT_EQ(Must(results[1][0].ToLiteral()), Literal::Scalar<uint32_t>(0));
}

// JAX lowers shard_map to HLO like this: the mesh determines the number of partitions.
TEST_F(Participants, AsManyPartitionsAsTheMeshHas) {
  const Executable ids = Must(client_->CompileText(
      "HloModule ids, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<[\"x\"=2, \"y\"=2]>}}\n"
      "ENTRY e {\n ROOT p = u32[] partition-id()\n}\n"));
  ASSERT_EQ(ids.participant_count(), 4);
  const auto results = Must(ids.ExecuteParticipants(std::vector<std::vector<Argument>>(4)));
  for (uint32_t m = 0; m < 4; ++m) EXPECT_EQ(Must(results[m][0].ToLiteral()), Literal::Scalar<uint32_t>(m));
}

TEST_F(Participants, DonatedArgumentsAreGone) {
  const Executable sum = Must(client_->CompileText(
      "HloModule sum, replica_count=2, input_output_alias={ {}: (0, {}, may-alias) }\n" + std::string(kAdd) +
      "ENTRY e {\n x = s32[2] parameter(0)\n"
      " ROOT y = s32[2] all-reduce(x), replica_groups={}, to_apply=add\n}\n"));
  const Buffer a = Must(client_->device(0).Upload(Literal::Vector<int32_t>({1, 2})));
  const Buffer b = Must(client_->device(1).Upload(Literal::Vector<int32_t>({30, 40})));
  // The first participant's argument is donated, the second's is not.
  const auto results = Must(sum.Execute({a, b}, {.donate = {0}}));
  for (const Buffer& result : results)
    EXPECT_EQ(Must(result.ToLiteral()), Literal::Vector<int32_t>({31, 42}));
  EXPECT_EQ(KindOf(a.ToLiteral().status()), ErrorKind::kDonated);
  EXPECT_EQ(Must(b.ToLiteral()), Literal::Vector<int32_t>({30, 40}));
}

TEST_F(Participants, MoreThanDevicesAreRefused) {
  const Executable many = Must(client_->CompileText(
      "HloModule many, replica_count=4, num_partitions=2\nENTRY e {\n ROOT x = u32[] replica-id()\n}\n"));
  EXPECT_THAT(Text(many.ExecuteParticipants(std::vector<std::vector<Argument>>(8)).status()),
              AllOf(HasSubstr("needs 8 devices"), HasSubstr("num_replicas 4 x num_partitions 2"),
                    HasSubstr("the daemon has 4")));
}

// An instruction of 40 bytes must not become one of gigabytes.
TEST_F(Participants, WhatGroupsComputeIsBounded) {
  const std::string exchange =
      "HloModule m, replica_count=4096\nENTRY e {\n x = s8[4096] parameter(0)\n"
      " ROOT y = s8[4096] all-to-all(x), replica_groups={}, dimensions={0}\n}\n";
  EXPECT_THAT(Text(Must(client_->CompileText(exchange)).Describe().status()),
              AllOf(HasSubstr("all-to-all"), HasSubstr("among (4096) participants"),
                    HasSubstr("the limit of all is (1048576)")));
  std::string sums =
      "HloModule m, replica_count=4096\n" + std::string(kAdd) + "ENTRY e {\n x0 = s32[] parameter(0)\n";
  for (int i = 0; i < 200; ++i) {
    absl::StrAppend(&sums, i == 199 ? " ROOT x" : " x", i + 1, " = s32[] all-reduce(x", i,
                    "), replica_groups={}, to_apply=add\n");
  }
  EXPECT_THAT(Text(Must(client_->CompileText(sums + "}\n")).Describe().status()),
              AllOf(HasSubstr("takes (8256) instructions of theirs, after (1048512)")));
}

// The daemon checks the counts itself.
TEST_F(Participants, WhatDoesNotFitIsRefusedByTheDaemon) {
  RawSession raw(daemon_->address());
  const uint64_t sum = raw.NewHandle();
  ASSERT_OK(raw.Call(CompileOf(sum, kSum)));
  const auto refusal = [&](const std::vector<uint32_t>& devices, size_t arguments, size_t results) {
    std::vector<uint64_t> given, named;
    v1::Command command;
    for (size_t i = 0; i < arguments; ++i) {
      v1::Command upload = UploadOf(raw.NewHandle(), Literal::Vector<int32_t>({1, 2}));
      given.push_back(upload.upload().handle());
      EXPECT_OK(raw.Call(std::move(upload)));
    }
    for (size_t i = 0; i < results; ++i) named.push_back(raw.NewHandle());
    command = ExecuteOf(sum, given, named);
    for (const uint32_t device : devices) command.mutable_execute()->add_devices(device);
    return Text(raw.Call(std::move(command)));
  };
  EXPECT_THAT(refusal({}, 1, 1), AllOf(HasSubstr("needs 4 devices"), HasSubstr("but 1 are given")));
  EXPECT_THAT(refusal({0, 1}, 2, 2), HasSubstr("but 2 are given"));
  EXPECT_THAT(refusal({0, 1, 1, 2}, 4, 4), HasSubstr("device 1 twice"));
  EXPECT_THAT(refusal({0, 1, 2, 9}, 4, 4), HasSubstr("9"));
  EXPECT_THAT(refusal({0, 1, 2, 3, 0}, 5, 5), HasSubstr("devices names 5"));
  EXPECT_THAT(refusal({0, 1, 2, 3}, 3, 4), HasSubstr("do not divide among 4 devices"));
  EXPECT_THAT(refusal({0, 1, 2, 3}, 4, 8), HasSubstr("gives 1 results for each of 4 participants"));
  EXPECT_THAT(refusal({0, 1, 2, 3}, 4, 4), HasSubstr("is on device 0; the execute is on device 1"));
}

TEST_F(Participants, TheDeadlineOfOneEndsAll) {
  const Executable late = Must(client_->CompileText(kLate));
  const Execution running = Must(late.Start(Numbers(), {.deadline = absl::Milliseconds(300)}));
  const absl::Status status = running.done.Await(absl::Seconds(20));
  EXPECT_EQ(KindOf(status), ErrorKind::kDeadline) << status;
  EXPECT_THAT(Text(status), HasSubstr("participant "));
  for (const Buffer& result : running.results)
    EXPECT_EQ(KindOf(result.ToLiteral().status()), ErrorKind::kDeadline);
}

TEST_F(Participants, ACancelEndsAll) {
  const Executable late = Must(client_->CompileText(kLate));
  const Execution running = Must(late.Start(Numbers()));
  EXPECT_EQ(running.done.Await(absl::Milliseconds(100)).code(), absl::StatusCode::kDeadlineExceeded);
  running.Cancel();
  EXPECT_EQ(KindOf(running.done.Await(absl::Seconds(20))), ErrorKind::kCancelled);
  // The devices are free again.
  const Executable sum = Must(client_->CompileText(kSum));
  std::vector<Argument> arguments;
  for (int m = 0; m < 4; ++m)
    arguments.emplace_back(Must(client_->device(m).Upload(Literal::Vector<int32_t>({1, 2}))));
  EXPECT_EQ(Must(Must(sum.Execute(arguments))[3].ToLiteral()), Literal::Vector<int32_t>({4, 8}));
}

TEST_F(Participants, OneThatDoesNotComeIsNamed) {
  const Executable absent = Must(client_->CompileText(kAbsent));
  const Execution running = Must(absent.Start(Numbers()));
  EXPECT_THAT(Text(running.done.Await(absl::Seconds(20))),
              AllOf(HasSubstr("participant 2 (replica 2, partition 0) on device 2 has ended"),
                    HasSubstr("all-reduce")));
  EXPECT_FALSE(running.results[2].ToLiteral().ok());
}

// Each group takes the devices in another order, and holds some while it waits for the rest.
TEST_F(Participants, TwoGroupsDoNotBlockEachOther) {
  const auto work = [this](std::vector<int> devices) {
    const Client client = Must(daemon_->Connect());
    const Executable sum = Must(client.CompileText(kSum));
    std::vector<Argument> arguments;
    for (const int device : devices)
      arguments.emplace_back(Must(client.device(device).Upload(Literal::Vector<int32_t>({device, 1}))));
    for (int i = 0; i < 50; ++i) {
      const std::vector<Buffer> results = Must(sum.Execute(arguments, {.devices = devices}));
      ASSERT_EQ(Must(results[0].ToLiteral()), Literal::Vector<int32_t>({6, 4}));
    }
  };
  std::jthread first(work, std::vector<int>{0, 1, 2, 3}), second(work, std::vector<int>{3, 2, 1, 0});
}

TEST_F(Participants, ANeighboursProgramStillRuns) {
  const Executable together = Must(client_->CompileText(kForeverTogether));
  const Execution running = Must(together.Start(Numbers()));
  const Client other = Must(daemon_->Connect());
  const Executable add = Must(other.CompileText(AddProgram(2)));
  for (int device = 0; device < 4; ++device) {
    const Buffer x = Must(other.device(device).Upload(Counting(2)));
    EXPECT_EQ(Must(Must(add.Execute({x, x}))[0].ToLiteral()), Literal::Vector<float>({0, 2}));
  }
  EXPECT_FALSE(running.done.Ready());
  running.Cancel();
  EXPECT_EQ(KindOf(running.done.Await(absl::Seconds(20))), ErrorKind::kCancelled);
}

// A session that ends while its participants wait for each other.
TEST_F(Participants, ASessionThatEndsLetsGoOfItsDevices) {
  {
    const Client client = Must(daemon_->Connect());
    const Executable late = Must(client.CompileText(kLate));
    std::vector<Argument> arguments;
    for (int m = 0; m < 4; ++m)
      arguments.emplace_back(Must(client.device(m).Upload(Literal::Scalar<int32_t>(m))));
    const Execution running = Must(late.Start(arguments));
    EXPECT_FALSE(running.done.Await(absl::Milliseconds(100)).ok());
  }
  const Executable absent = Must(client_->CompileText(kAbsent));
  EXPECT_THAT(Text(Must(absent.Start(Numbers())).done.Await(absl::Seconds(20))), HasSubstr("has ended"));
}

// One participant's placeholder reaches all of them through the collective.
TEST_F(Participants, AnAbstractSumOfOnePlaceholderIsOneForEach) {
  const Executable sum = Must(client_->CompileText(kSum));
  std::vector<Argument> arguments;
  for (int m = 0; m < 3; ++m)
    arguments.emplace_back(Must(client_->device(m).Upload(Literal::Vector<int32_t>({1, 2}))));
  arguments.emplace_back(Must(client_->device(3).Placeholder(Shape::Array(hlo::kS32, {2}))));
  const std::vector<Buffer> sums = Must(sum.Execute(arguments, {.abstract = true}));
  ASSERT_EQ(sums.size(), 4u);
  for (int m = 0; m < 4; ++m) {
    ASSERT_OK(sums[static_cast<size_t>(m)].ready().Await());
    EXPECT_TRUE(sums[static_cast<size_t>(m)].is_placeholder());
    EXPECT_EQ(sums[static_cast<size_t>(m)].device(), m);
    EXPECT_EQ(KindOf(sums[static_cast<size_t>(m)].ToLiteral().status()), ErrorKind::kPlaceholder);
  }
}

// Instructions that depend on values alone are computed by all participants together, and the rest are not.
TEST_F(Participants, AbstractOnesComputeWhatHasValues) {
  const Executable both =
      Must(client_->CompileText("HloModule both, replica_count=4\n" + std::string(kAdd) + R"(
ENTRY e {
  x = s32[2] parameter(0)
  w = s32[2] parameter(1)
  y = s32[2] all-reduce(x), replica_groups={}, to_apply=add
  z = s32[2] add(y, w)
  ROOT t = (s32[2], s32[2]) tuple(z, y)
}
)"));
  std::vector<Argument> arguments;
  for (int m = 0; m < 4; ++m) {
    arguments.emplace_back(Must(client_->device(m).Upload(Literal::Vector<int32_t>({m, 10 * m}))));
    arguments.emplace_back(Must(client_->device(m).Placeholder(Shape::Array(hlo::kS32, {2}))));
  }
  const std::vector<Buffer> results =
      Must(both.Execute(arguments, {.donate = {1, 3, 5, 7}, .abstract = true}));
  ASSERT_EQ(results.size(), 8u);
  for (size_t m = 0; m < 4; ++m) {
    EXPECT_TRUE(results[2 * m].is_placeholder());
    EXPECT_EQ(Must(results[2 * m + 1].ToLiteral()), Literal::Vector<int32_t>({6, 60}));
  }
  EXPECT_EQ(KindOf(arguments[1].buffer()->state()), ErrorKind::kDonated);
}

TEST_F(Participants, HloctlPrintsEachOnesResults) {
  std::ofstream(folder_ / "sum.hlo") << kSum;
  const Output output = Run("run " + File("sum.hlo"));
  EXPECT_EQ(output.code, 0) << output.text;
  EXPECT_THAT(output.text,
              AllOf(HasSubstr("participant 0 result 0: s32[2] {0, 0}"), HasSubstr("participant 3 result 0")));
  ASSERT_OK(hlo::WriteNpy(File("x.npy"), Literal::Vector<int32_t>({1, 2})));
  ASSERT_OK(hlo::WriteNpy(File("y.npy"), Literal::Vector<int32_t>({10, 20})));
  const nlohmann::json json =
      RunJson("run " + File("sum.hlo") + " --arg " + File("x.npy") + " --arg 2:0=" + File("y.npy"));
  ASSERT_EQ(json["results"].size(), 4u);
  EXPECT_EQ(json["results"][1]["participant"], 1);
  EXPECT_EQ(json["results"][1]["value"], nlohmann::json({13, 26}));
  EXPECT_THAT(Run("run " + File("sum.hlo") + " --arg 4:0=" + File("y.npy")).text,
              HasSubstr("is for participant 4"));
  std::ofstream(folder_ / "many.hlo") << absl::StrReplaceAll(kSum, {{"replica_count=4", "replica_count=5"}});
  EXPECT_THAT(Run("run " + File("many.hlo")).text,
              AllOf(HasSubstr("needs 5 devices"), HasSubstr("the daemon has 4 (hlod --devices)")));
}

}  // namespace
}  // namespace hlod
