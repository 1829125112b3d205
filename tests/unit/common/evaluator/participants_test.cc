// Collectives among participants, worked out by hand: some that XLA's CPU backend does not run, and some that
// are refused.
#include "common/evaluator/participants.h"

#include "common/base/text/strings.h"
#include "common/hlo/text/text.h"
#include "tests/unit/common/evaluator/evaluate_one.h"

namespace hlod {
namespace {

const std::string kAdd =
    "add {\n p = s32[] parameter(0)\n q = s32[] parameter(1)\n ROOT r = s32[] add(p, q)\n}\n";

// Runs a program that takes and returns one number per participant.
absl::StatusOr<std::vector<int32_t>> RunNumbers(const std::string& counts, const std::string& body,
                                                const std::vector<int32_t>& numbers) {
  const auto module = ParseModule("HloModule m, " + counts + "\n" + kAdd +
                                  "ENTRY e {\n x = s32[] parameter(0)\n ROOT y = s32[] " + body + "\n}\n");
  if (!module.ok()) return module.status();
  if (absl::Status verified = Verify(**module); !verified.ok()) return verified;
  std::vector<Literal> literals;
  for (const int32_t number : numbers) literals.push_back(Literal::Scalar<int32_t>(number));
  std::vector<std::vector<const Literal*>> arguments;
  for (const Literal& literal : literals) arguments.push_back({&literal});
  const auto results = EvaluateParticipants(**module, arguments);
  if (!results.ok()) return results.status();
  std::vector<int32_t> got;
  for (const Literal& result : *results) got.push_back(result.data<int32_t>()[0]);
  return got;
}

using Numbers = std::vector<int32_t>;

TEST(EvaluateParticipants, BroadcastGivesTheFirstOnesOperandAndZerosToThoseOutside) {
  const auto got =
      RunNumbers("replica_count=4", "collective-broadcast(x), replica_groups={{2,0}}", {5, 6, 7, 8});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*got, Numbers({7, 0, 7, 0}));
  // With a channel, the partitions within each replica take part.
  const auto within =
      RunNumbers("replica_count=2, num_partitions=2",
                 "collective-broadcast(x), channel_id=1, replica_groups={{1,0}}", {5, 6, 7, 8});
  ASSERT_TRUE(within.ok()) << within.status();
  EXPECT_EQ(*within, Numbers({6, 6, 8, 8}));
}

TEST(EvaluateParticipants, ReduceGivesTheSumToTheFirst) {
  const auto got = RunNumbers(
      "replica_count=4", "collective-reduce(x), replica_groups={{1,0},{2,3}}, to_apply=add", {5, 6, 7, 8});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*got, Numbers({0, 11, 15, 0}));
}

TEST(EvaluateParticipants, AllReduceIsOfGroupsOfAnySizes) {
  const auto got = RunNumbers("replica_count=4", "all-reduce(x), replica_groups={{0,3,1},{2}}, to_apply=add",
                              {5, 6, 7, 8});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*got, Numbers({19, 19, 7, 19}));
}

// In bf16, whose numbers are 2 apart from 256 on, 256 + 1 is 256: sums that were rounded after each
// participant would be 256. The sum of all, 259, is rounded to the even one of 258 and 260.
TEST(EvaluateParticipants, SumsOfBf16AreRoundedOnce) {
  const auto module = ParseModule(
      "HloModule m, replica_count=4\nadd {\n p = bf16[] parameter(0)\n q = bf16[] parameter(1)\n"
      " ROOT r = bf16[] add(p, q)\n}\nENTRY e {\n x = bf16[1] parameter(0)\n"
      " ROOT y = bf16[1] all-reduce(x), to_apply=add, replica_groups={}\n}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  std::vector<Literal> literals;
  for (const float number : {256.f, 1.f, 1.f, 1.f})
    literals.push_back(Literal::Vector<hlo::BF16>({hlo::BF16(number)}));
  std::vector<std::vector<const Literal*>> arguments;
  for (const Literal& literal : literals) arguments.push_back({&literal});
  const auto results = EvaluateParticipants(**module, arguments);
  ASSERT_TRUE(results.ok()) << results.status();
  for (const Literal& result : *results) EXPECT_EQ(static_cast<float>(result.data<hlo::BF16>()[0]), 260.f);
}

TEST(EvaluateParticipants, PairsWithoutAChannelAreReplicas) {
  const auto got = RunNumbers("replica_count=2, num_partitions=2",
                              "collective-permute(x), source_target_pairs={{0,1}}", {5, 6, 7, 8});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*got, Numbers({0, 0, 5, 6}));
}

TEST(EvaluateParticipants, GroupsThatDoNotFitAreNamed) {
  const auto message = [](const std::string& counts, const std::string& body) {
    const auto got = RunNumbers(counts, body, {1, 2, 3, 4});
    EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument) << got.status();
    return std::string(FromAbsl(got.status().message()));
  };
  EXPECT_THAT(
      message("replica_count=4", "all-reduce(x), replica_groups={{0,4},{1,2}}, to_apply=add"),
      testing::AllOf(HasSubstr("all-reduce (y)"), HasSubstr("replica (4)"), HasSubstr("(4) of them")));
  EXPECT_THAT(message("num_partitions=4", "all-reduce(x), replica_groups={{0,1}}, to_apply=add"),
              HasSubstr("replica (1)"));
  EXPECT_THAT(message("replica_count=4", "all-reduce(x), replica_groups={{0,1}}, to_apply=add"),
              HasSubstr("has participant 2 (replica 2, partition 0) in none of its groups"));
  EXPECT_THAT(message("replica_count=4", "collective-reduce(x), replica_groups={{0,3,1},{2}}, to_apply=add"),
              HasSubstr("has (1) devices, and the first has (3)"));
  EXPECT_THAT(message("replica_count=4",
                      "all-reduce(x), use_global_device_ids=true, to_apply=add, replica_groups={}"),
              HasSubstr("no channel_id"));
  EXPECT_THAT(
      message("replica_count=4",
              "all-reduce(x), channel_id=1, use_global_device_ids=true, to_apply=add, replica_groups={}"),
      HasSubstr("no replica_groups"));
  EXPECT_THAT(message("replica_count=4", "collective-permute(x), source_target_pairs={{0,9}}"),
              HasSubstr("replica (9)"));
  EXPECT_THAT(message("replica_count=3", "all-reduce(x), replica_groups={}, to_apply=add"),
              HasSubstr("has 3 participants, and arguments of 4 were given"));
}

}  // namespace
}  // namespace hlod
