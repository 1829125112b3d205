// Collectives over several daemons: JAX's recorded results, and the bits of one daemon with the same devices,
// wherever the participants are.
#include <gmock/gmock.h>

#include <cmath>

#include "client/import/import.h"
#include "tests/conformance/case.h"
#include "tests/integration/support/cluster.h"

namespace hlod {
namespace {

using ::testing::HasSubstr;

// One daemon of 8 devices, and a cluster of three with 4 each. They are started once, and end with the test.
struct Daemons {
  testing::Daemon alone;
  std::vector<testing::Daemon> members;
};

testing::Daemon StartOne(const Flags& flags) {
  testing::DaemonOptions options;
  options.tcp = true;
  options.flags = Flags{"--device-memory", "256MiB", "--log-level", "info"} + flags;
  return Must(testing::Daemon::Start(options));
}

// Waits until each daemon has links with all others.
void AwaitMembers(const std::vector<testing::Daemon>& members) {
  for (const testing::Daemon& member : members) {
    const Admin admin = Must(member.Administration());
    const absl::Time end = absl::Now() + kPatience;
    const auto complete = [&] {
      const Cluster cluster = Must(admin.Cluster());
      return cluster.members.size() == members.size() &&
             std::ranges::all_of(cluster.members, [](const ClusterMember& row) {
               return row.state == "linked" || row.state == "here";
             });
    };
    while (!complete() && absl::Now() < end) {
    }
  }
}

Daemons& Running() {
  static Daemons* daemons = nullptr;
  if (daemons != nullptr) return *daemons;
  daemons = new Daemons{.alone = StartOne({"--devices", "8"}), .members = {}};
  daemons->members.push_back(StartOne({"--cluster", "ci", "--cluster-size", "3", "--devices", "4"}));
  for (const char* rank : {"1", "2"}) {
    daemons->members.push_back(StartOne(
        {"--cluster", "ci", "--join", daemons->members[0].tcp_address(), "--rank", rank, "--devices", "4"}));
  }
  AwaitMembers(daemons->members);
  return *daemons;
}

class EndsTheDaemons : public ::testing::Environment {
  void TearDown() override {
    for (const testing::Daemon& member : Running().members) {
      EXPECT_TRUE(member.WaitForUsedBytes(0, kPatience)) << member.log();
      member.Kill(SIGTERM);
    }
    Running().alone.Kill(SIGTERM);
  }
};
const ::testing::Environment* const environment = ::testing::AddGlobalTestEnvironment(new EndsTheDaemons);

// Places of 8 participants: on two daemons, in turns on two, and spread over three.
const std::vector<std::vector<int>>& Placements() {
  static const auto* const placements = new std::vector<std::vector<int>>{
      {0, 1, 2, 3, 4, 5, 6, 7}, {7, 0, 6, 1, 5, 2, 4, 3}, {8, 4, 0, 9, 1, 5, 10, 2}};
  return *placements;
}

using Values = std::vector<std::vector<Literal>>;  // By participant.

Values RunOnDevices(const Client& client, const Executable& program, const Values& arguments,
                    const std::vector<int>& devices) {
  const std::vector<int> used(devices.begin(), devices.begin() + program.participant_count());
  std::vector<std::vector<Argument>> given(used.size());
  for (size_t m = 0; m < used.size(); ++m) {
    for (const Literal& value : arguments[m])
      given[m].emplace_back(Must(client.device(used[m]).Upload(value)));
  }
  Values values(used.size());
  const auto results = program.ExecuteParticipants(given, {.devices = used});
  EXPECT_OK(results.status());
  if (!results.ok()) return values;
  for (size_t m = 0; m < used.size(); ++m) {
    for (const Buffer& result : (*results)[m]) {
      const absl::StatusOr<Literal> value = result.ToLiteral();
      EXPECT_TRUE(value.ok()) << value.status();
      values[m].push_back(value.ok() ? *value : Literal());
    }
  }
  return values;
}

class CollectivesOverDaemons : public ::testing::TestWithParam<std::string> {};

TEST_P(CollectivesOverDaemons, MatchXlaAndOneDaemon) {
  const testing::Case xla = Must(testing::LoadCase(GetParam(), "collectives"));
  const auto module = ReadModule(xla.module_text, {.for_execution = true});
  ASSERT_TRUE(module.ok()) << module.status();
  const Client alone = Must(Running().alone.Connect());
  const Executable reference = Must(alone.Compile(**module));
  Values arguments(static_cast<size_t>(reference.participant_count()));
  for (size_t m = 0; m < arguments.size(); ++m) {
    for (const Literal& argument : xla.arguments) arguments[m].push_back(testing::PartOf(argument, m));
  }
  const Values expected = RunOnDevices(alone, reference, arguments, Placements()[0]);
  const Client client = Must(Running().members[0].Connect());
  const Executable program = Must(client.Compile(**module));
  for (const std::vector<int>& devices : Placements()) {
    const Values got = RunOnDevices(client, program, arguments, devices);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t m = 0; m < got.size(); ++m) {
      ASSERT_EQ(got[m].size(), xla.expected.size());
      for (size_t i = 0; i < got[m].size(); ++i) {
        EXPECT_OK(testing::CompareArrays(got[m][i], testing::PartOf(xla.expected[i], m), xla.tolerances[i]))
            << xla.about << " participant " << m << ", result " << i;
        EXPECT_TRUE(std::ranges::equal(got[m][i].bytes(), expected[m][i].bytes()))
            << xla.about << " participant " << m << ", result " << i << ": other bits than on one daemon";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CollectivesOverDaemons,
                         ::testing::ValuesIn(testing::CaseNames("collectives")), testing::CaseName());

// f32 values whose sum depends on the order, by participant.
Values Uneven(int participants, int64_t count) {
  Values values(static_cast<size_t>(participants));
  uint32_t state = 1;
  for (std::vector<Literal>& own : values) {
    Literal numbers(Shape::Array(hlo::kF32, {count}));
    for (float& number : numbers.data<float>()) {
      state = state * 1664525 + 1013904223;
      const int exponent = static_cast<int>(state >> 28);
      number = std::ldexp(static_cast<float>(state & 0xffff) - 32768.0f, exponent);
    }
    own.push_back(std::move(numbers));
  }
  return values;
}

constexpr std::string_view kAddFloats =
    "add {\n p = f32[] parameter(0)\n q = f32[] parameter(1)\n ROOT r = f32[] add(p, q)\n}\n";

void ExpectTheBitsOfOneDaemon(const std::string& text, const Values& arguments) {
  const Client alone = Must(Running().alone.Connect());
  const Values expected = RunOnDevices(alone, Must(alone.CompileText(text)), arguments, Placements()[0]);
  const Client client = Must(Running().members[1].Connect());
  const Executable program = Must(client.CompileText(text));
  for (const std::vector<int>& devices : Placements()) {
    const Values got = RunOnDevices(client, program, arguments, devices);
    for (size_t m = 0; m < got.size(); ++m) {
      ASSERT_EQ(got[m].size(), expected[m].size());
      for (size_t i = 0; i < got[m].size(); ++i)
        EXPECT_TRUE(std::ranges::equal(got[m][i].bytes(), expected[m][i].bytes())) << "participant " << m;
    }
  }
}

// Messages of many frames.
TEST(CollectivesOverDaemonsLarge, HaveTheBitsOfOneDaemon) {
  const std::string module = "HloModule sum, replica_count=8\n" + std::string(kAddFloats);
  const Values arguments = Uneven(8, 1 << 16);
  ExpectTheBitsOfOneDaemon(module +
                               "ENTRY e {\n x = f32[65536] parameter(0)\n"
                               " ROOT y = f32[65536] all-reduce(x), replica_groups={}, to_apply=add\n}\n",
                           arguments);
  ExpectTheBitsOfOneDaemon(
      module +
          "ENTRY e {\n x = f32[65536] parameter(0)\n ROOT y = f32[16384] reduce-scatter(x), "
          "replica_groups={{0,5,2,7},{1,4,3,6}}, dimensions={0}, to_apply=add\n}\n",
      arguments);
  ExpectTheBitsOfOneDaemon(module +
                               "ENTRY e {\n x = f32[65536] parameter(0)\n"
                               " ROOT y = f32[524288] all-gather(x), replica_groups={}, dimensions={0}\n}\n",
                           arguments);
}

// Each daemon reduces a part, whose size is not a multiple of anything. Groups have one to three daemons,
// some with several participants on one.
TEST(CollectivesOverDaemonsLarge, AreReducedInPartsWithTheBitsOfOneDaemon) {
  struct Kind {
    const char *type, *fold;
  };
  const Values flat = Uneven(8, 317 * 331);
  Values arguments(8);
  for (size_t m = 0; m < 8; ++m) {
    Literal& array = arguments[m].emplace_back(Shape::Array(hlo::kF32, {317, 331}));
    std::ranges::copy(flat[m][0].data<float>(), array.data<float>().begin());
  }
  for (const auto& [type, fold] :
       {Kind{"f32", "add(p, q)"}, {"bf16", "add(p, q)"}, {"s32", "maximum(q, p)"}}) {
    for (const char* groups : {"{}", "{{0,5,2,7},{1,4,3,6}}", "{{0,5,2,7,1},{4,3,6}}"}) {
      const std::string text = absl::StrFormat(
          "HloModule large, replica_count=8\n"
          "fold {\n p = %1$s[] parameter(0)\n q = %1$s[] parameter(1)\n ROOT r = %1$s[] %2$s\n}\n"
          "ENTRY e {\n x = f32[317,331] parameter(0)\n c = %1$s[317,331] convert(x)\n"
          " y = %1$s[317,331] all-reduce(c), replica_groups=%3$s, to_apply=fold\n"
          " ROOT z = f32[317,331] convert(y)\n}\n",
          type, fold, groups);
      ExpectTheBitsOfOneDaemon(text, arguments);
    }
  }
}

// Only the pieces that other daemons need are sent: rows of pieces, single pieces, and whole operands.
TEST(CollectivesOverDaemonsLarge, ExchangePiecesWithTheBitsOfOneDaemon) {
  const std::string head = "HloModule pieces, replica_count=8\n" + std::string(kAddFloats) +
                           "ENTRY e {\n x = f32[65536] parameter(0)\n a = f32[16,4096] reshape(x)\n";
  const Values arguments = Uneven(8, 1 << 16);
  for (const char* groups : {"{{0,1,2,3,4,5,6,7}}", "{{0,5,2,7},{1,4,3,6}}"}) {
    const int size = groups[3] == ',' && groups[4] == '1' ? 8 : 4;
    for (const char* type : {"f32", "bf16"}) {
      const std::string convert = absl::StrFormat(" c = %s[16,4096] convert(a)\n", type);
      ExpectTheBitsOfOneDaemon(
          head + convert +
              absl::StrFormat(" ROOT y = %s[16,%d] all-to-all(c), replica_groups=%s, dimensions={1}\n}\n",
                              type, 4096, groups),
          arguments);
      ExpectTheBitsOfOneDaemon(
          head + convert +
              absl::StrFormat(" ROOT y = %s[%d,4096] all-to-all(c), replica_groups=%s, dimensions={0}\n}\n",
                              type, 16, groups),
          arguments);
    }
    ExpectTheBitsOfOneDaemon(head + absl::StrFormat(" ROOT y = f32[16,%d] reduce-scatter(a), "
                                                    "replica_groups=%s, dimensions={1}, to_apply=add\n}\n",
                                                    4096 / size, groups),
                             arguments);
    ExpectTheBitsOfOneDaemon(head + absl::StrFormat(" ROOT y = f32[%d,4096] reduce-scatter(a), "
                                                    "replica_groups=%s, dimensions={0}, to_apply=add\n}\n",
                                                    16 / size, groups),
                             arguments);
  }
}

// Short runs that lie apart, which are sent side by side; several operands; results that all share.
TEST(CollectivesOverDaemonsLarge, ExchangeShortRunsWithTheBitsOfOneDaemon) {
  const std::string head = "HloModule runs, replica_count=8\n" + std::string(kAddFloats) +
                           "ENTRY e {\n x = f32[65536] parameter(0)\n a = f32[1024,64] reshape(x)\n";
  const Values arguments = Uneven(8, 1 << 16);
  for (const char* groups : {"{{0,1,2,3,4,5,6,7}}", "{{0,5,2,7},{1,4,3,6}}"}) {
    const int size = groups[3] == ',' && groups[4] == '1' ? 8 : 4;
    ExpectTheBitsOfOneDaemon(
        head + absl::StrFormat(" ROOT y = f32[1024,64] all-to-all(a), replica_groups=%s, dimensions={1}\n}\n",
                               groups),
        arguments);
    for (const int dimension : {0, 1}) {
      ExpectTheBitsOfOneDaemon(
          head + absl::StrFormat(
                     " ROOT y = f32[%d,%d] all-gather(a), replica_groups=%s, dimensions={%d}\n}\n",
                     dimension == 0 ? 1024 * size : 1024, dimension == 1 ? 64 * size : 64, groups, dimension),
          arguments);
    }
    // A piece of the first operand is reduced in several blocks.
    ExpectTheBitsOfOneDaemon(
        head +
            absl::StrFormat(
                " b = f32[512,128] reshape(x)\n big = f32[1024,256] concatenate(a, a, a, a), dimensions={1}\n"
                " ROOT y = (f32[1024,%d], f32[512,%d]) reduce-scatter(big, b), replica_groups=%s, "
                "dimensions={1}, to_apply=add\n}\n",
                256 / size, 128 / size, groups),
        arguments);
  }
  ExpectTheBitsOfOneDaemon(
      head + " ROOT y = f32[1024,64] collective-broadcast(a), replica_groups={{5,1,2,3,4,0,6,7}}\n}\n",
      arguments);
  ExpectTheBitsOfOneDaemon(head +
                               " ROOT y = f32[1024,64] collective-permute(a), "
                               "source_target_pairs={{0,3},{3,0},{1,2},{2,7},{6,6}}\n}\n",
                           arguments);
  std::string operands = head, names, shapes;
  for (int i = 0; i < 8; ++i) {
    absl::StrAppendFormat(&operands, " c%d = f32[128,64] slice(a), slice={[%d:%d], [0:64]}\n", i, 128 * i,
                          128 * (i + 1));
    absl::StrAppendFormat(&names, "%sc%d", i > 0 ? ", " : "", i);
    absl::StrAppend(&shapes, i > 0 ? ", " : "", "f32[128,64]");
  }
  ExpectTheBitsOfOneDaemon(
      operands + absl::StrFormat(" ROOT y = (%s) all-to-all(%s), replica_groups={{3,1,2,0,4,7,6,5}}\n}\n",
                                 shapes, names),
      arguments);
}

// All pairs send at once, on one connection from each daemon to the other: 8 MiB that the daemon called does
// not read before its own participants are there.
TEST(CollectivesOverDaemonsLarge, OfManyPairsMeetAtOnce) {
  constexpr int kPairs = 32;
  std::vector<testing::Daemon> daemons;
  daemons.push_back(StartOne({"--cluster", "pairs", "--cluster-size", "2", "--devices", "32"}));
  daemons.push_back(StartOne({"--cluster", "pairs", "--join", daemons[0].tcp_address(), "--devices", "32"}));
  AwaitMembers(daemons);
  const Client client = Must(daemons[0].Connect());
  std::vector<std::string> groups;
  std::vector<int> devices;
  for (int i = 0; i < kPairs; ++i) groups.push_back(absl::StrFormat("{%d,%d}", i, i + kPairs));
  for (int i = 0; i < 2 * kPairs; ++i) devices.push_back(i);
  const Executable program = Must(client.CompileText(
      absl::StrFormat("HloModule pairs, replica_count=%d\n%sENTRY e {\n x = f32[65536] parameter(0)\n"
                      " ROOT y = f32[65536] all-reduce(x), replica_groups={%s}, to_apply=add\n}\n",
                      2 * kPairs, kAddFloats, absl::StrJoin(groups, ","))));
  Values arguments(2 * kPairs);
  for (size_t m = 0; m < arguments.size(); ++m) {
    arguments[m].emplace_back(Shape::Array(hlo::kF32, {1 << 16}));
    for (float& number : arguments[m][0].data<float>()) number = static_cast<float>(m);
  }
  for (int round = 0; round < 3; ++round) {
    const Values sums = RunOnDevices(client, program, arguments, devices);
    for (size_t m = 0; m < sums.size(); ++m) {
      ASSERT_EQ(sums[m].size(), 1u);
      const auto expected = static_cast<float>(2 * (m % kPairs) + kPairs);
      EXPECT_THAT(sums[m][0].data<float>(), ::testing::Each(expected)) << "participant " << m;
    }
  }
}

// The same step meets in each iteration, and each participant of a group takes the same number of them.
TEST(CollectivesOverDaemonsControlFlow, LoopsAndBranchesMeetInTheirTurns) {
  ExpectTheBitsOfOneDaemon("HloModule loop, replica_count=8\n" + std::string(kAddFloats) + R"(
cond {
  t = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  seven = s32[] constant(7)
  ROOT c = pred[] compare(i, seven), direction=LT
}
sum {
  x = f32[64] parameter(0)
  y = f32[64] all-reduce(x), replica_groups={{0,2,4,6},{1,3,5,7}}, to_apply=add
  k = f32[] constant(0.125)
  b = f32[64] broadcast(k), dimensions={}
  ROOT z = f32[64] multiply(y, b)
}
shift {
  x = f32[64] parameter(0)
  ROOT y = f32[64] collective-permute(x), source_target_pairs={{0,1},{1,2},{2,3},{3,4},{4,5},{5,6},{6,7},{7,0}}
}
body {
  t = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[64] get-tuple-element(t), index=1
  one = s32[] constant(1)
  odd = s32[] and(i, one)
  p = pred[] compare(odd, one), direction=EQ
  y = f32[64] conditional(p, x, x), true_computation=shift, false_computation=sum
  n = s32[] add(i, one)
  ROOT r = (s32[], f32[64]) tuple(n, y)
}
ENTRY e {
  x = f32[64] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[64]) tuple(zero, x)
  w = (s32[], f32[64]) while(t), condition=cond, body=body
  ROOT y = f32[64] get-tuple-element(w), index=1
}
)",
                           Uneven(8, 64));
}

// Two steps of one name, over groups of other daemons: no daemon takes one for the other's next iteration.
TEST(CollectivesOverDaemonsControlFlow, StepsOfOneNameDoNotMeet) {
  ExpectTheBitsOfOneDaemon("HloModule twice, replica_count=8\n" + std::string(kAddFloats) + R"(
cond {
  t = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  three = s32[] constant(3)
  ROOT c = pred[] compare(i, three), direction=LT
}
body {
  t = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[64] get-tuple-element(t), index=1
  sum = f32[64] all-reduce(x), replica_groups={{0,4},{1,5},{2,6},{3,7}}, to_apply=add
  one = s32[] constant(1)
  n = s32[] add(i, one)
  ROOT r = (s32[], f32[64]) tuple(n, sum)
}
ENTRY e {
  x = f32[64] parameter(0)
  sum = f32[64] all-reduce(x), replica_groups={{0,1},{2,3},{4,5},{6,7}}, to_apply=add
  zero = s32[] constant(0)
  t = (s32[], f32[64]) tuple(zero, sum)
  w = (s32[], f32[64]) while(t), condition=cond, body=body
  ROOT y = f32[64] get-tuple-element(w), index=1
}
)",
                           Uneven(8, 64));
}

// Ten steps of a linear regression whose batch is divided among 8 participants: each step takes the weights
// of the one before, in their memory.
TEST(CollectivesOverDaemonsTraining, DataParallelStepsHaveTheBitsOfOneDaemon) {
  const std::string text =
      "HloModule step, replica_count=8, input_output_alias={ {}: (0, {}, may-alias) }\n" +
      std::string(kAddFloats) + R"(
ENTRY e {
  w = f32[16] parameter(0)
  x = f32[32,16] parameter(1)
  y = f32[32] parameter(2)
  p = f32[32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[32] subtract(p, y)
  g = f32[16] dot(d, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  s = f32[16] all-reduce(g), replica_groups={}, to_apply=add
  rate = f32[] constant(1e-4)
  r = f32[16] broadcast(rate), dimensions={}
  c = f32[16] multiply(r, s)
  ROOT n = f32[16] subtract(w, c)
}
)";
  const auto train = [&](const Client& client, const std::vector<int>& devices) {
    const Executable step = Must(client.CompileText(text));
    std::vector<std::vector<Argument>> arguments(8);
    uint32_t state = 7;
    const auto numbers = [&state](Shape shape) {
      Literal value(std::move(shape));
      for (int64_t i = 0; i < value.shape().dims[0] * (value.shape().dims.size() > 1 ? 16 : 1); ++i) {
        state = state * 1664525 + 1013904223;
        value.data<float>()[i] = static_cast<float>(state >> 8) / static_cast<float>(1 << 24) - 0.5f;
      }
      return value;
    };
    const Literal weights = numbers(Shape::Array(hlo::kF32, {16}));
    for (size_t m = 0; m < 8; ++m) {
      const Device device = client.device(devices[m]);
      arguments[m] = {Must(device.Upload(weights)),
                      Must(device.Upload(numbers(Shape::Array(hlo::kF32, {32, 16})))),
                      Must(device.Upload(numbers(Shape::Array(hlo::kF32, {32}))))};
    }
    ExecuteOptions options;
    options.devices = devices;
    for (int m = 0; m < 8; ++m) options.donate.push_back(3 * m);
    for (int i = 0; i < 10; ++i) {
      const auto results = Must(step.ExecuteParticipants(arguments, options));
      for (size_t m = 0; m < 8; ++m) arguments[m][0] = results[m][0];
    }
    std::vector<Literal> trained;
    for (size_t m = 0; m < 8; ++m) trained.push_back(Must(arguments[m][0].buffer()->ToLiteral()));
    EXPECT_NE(trained[0], weights);
    return trained;
  };
  const std::vector<Literal> expected = train(Must(Running().alone.Connect()), Placements()[0]);
  for (const std::vector<int>& devices : Placements())
    EXPECT_EQ(train(Must(Running().members[2].Connect()), devices), expected);
}

}  // namespace
}  // namespace hlod
