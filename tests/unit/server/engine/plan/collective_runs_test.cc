// The bytes that processes exchange at a collective, against hand arithmetic.
#include "server/engine/plan/lowering/collective_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "common/hlo/text/text.h"

namespace hlod::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kReducers[] = R"(HloModule m, replica_count=4
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}
half {
  p = f32[] parameter(0)
  c = f32[] constant(0.5)
  ROOT r = f32[] multiply(p, c)
}
small {
  p = f32[] parameter(0)
  c = f32[] constant(1)
  ROOT r = pred[] compare(p, c), direction=GT
}
loop {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  s = f32[] add(p, q)
  ROOT r = f32[] while(s), condition=small, body=half
}
)";

using Runs = std::vector<std::tuple<size_t, int64_t, int64_t>>;

// Returns the operand, offset and bytes of each run that `receivers` need of participant `sender` in the
// collective that is the root of the entry.
Runs Needed(const std::string& entry, int sender, const std::vector<int>& receivers) {
  const auto module = hlo::ParseModule(kReducers + entry);
  EXPECT_TRUE(module.ok()) << module.status();
  const hlo::Instruction root = (*module)->entry().root();
  const auto collective = hlo::ReadCollective(root, hlo::ParticipantsOf(**module));
  EXPECT_TRUE(collective.ok()) << collective.status();
  Runs runs;
  for (const CollectiveRuns::Run& run : CollectiveRuns(**module, root, *collective).Needed(sender, receivers))
    runs.emplace_back(run.operand, run.offset, run.bytes);
  return runs;
}

TEST(CollectiveRuns, OfAReduceScatterAreTheReceiversPieces) {
  const std::string rows =
      "ENTRY e {\n x = f32[8,2] parameter(0)\n ROOT y = f32[2,2] reduce-scatter(x), "
      "replica_groups={{3,1,0,2}}, dimensions={0}, to_apply=add\n}\n";
  // The group's positions: 3, 1, 0, 2. A piece is two rows of two floats.
  EXPECT_THAT(Needed(rows, 0, {1}), ElementsAre(std::tuple(0, 16, 16)));
  EXPECT_THAT(Needed(rows, 3, {1, 0}), ElementsAre(std::tuple(0, 16, 32)));
  EXPECT_THAT(Needed(rows, 3, {3, 2}), ElementsAre(std::tuple(0, 0, 16), std::tuple(0, 48, 16)));
  const std::string columns =
      "ENTRY e {\n x = f32[2,1024] parameter(0)\n ROOT y = f32[2,256] reduce-scatter(x), "
      "replica_groups={{0,1,2,3}}, dimensions={1}, to_apply=add\n}\n";
  EXPECT_THAT(Needed(columns, 0, {2}), ElementsAre(std::tuple(0, 2048, 1024), std::tuple(0, 6144, 1024)));
}

TEST(CollectiveRuns, AreWholeOperandsIfPiecesAreShort) {
  EXPECT_THAT(Needed("ENTRY e {\n x = f32[2,8] parameter(0)\n ROOT y = f32[2,2] reduce-scatter(x), "
                     "replica_groups={{0,1,2,3}}, dimensions={1}, to_apply=add\n}\n",
                     0, {2}),
              ElementsAre(std::tuple(0, 0, 64)));
}

TEST(CollectiveRuns, AreWholeOperandsIfTheReductionLoops) {
  EXPECT_THAT(Needed("ENTRY e {\n x = f32[8,2] parameter(0)\n ROOT y = f32[2,2] reduce-scatter(x), "
                     "replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=loop\n}\n",
                     0, {2}),
              ElementsAre(std::tuple(0, 0, 64)));
}

TEST(CollectiveRuns, OfAnAllToAllAreThePiecesOrTheOperands) {
  EXPECT_THAT(Needed("ENTRY e {\n x = f32[8,2] parameter(0)\n ROOT y = f32[8,2] all-to-all(x), "
                     "replica_groups={{0,1},{2,3}}, dimensions={0}\n}\n",
                     2, {3}),
              ElementsAre(std::tuple(0, 32, 32)));
  const std::string operands =
      "ENTRY e {\n x = f32[3] parameter(0)\n y = f32[3] parameter(1)\n"
      " ROOT t = (f32[3], f32[3]) all-to-all(x, y), replica_groups={{1,0},{2,3}}\n}\n";
  EXPECT_THAT(Needed(operands, 0, {1}), ElementsAre(std::tuple(0, 0, 12)));
  EXPECT_THAT(Needed(operands, 1, {0}), ElementsAre(std::tuple(1, 0, 12)));
}

TEST(CollectiveRuns, OfAPermutationGoToTheTargets) {
  const std::string permute =
      "ENTRY e {\n x = f32[3] parameter(0)\n ROOT y = f32[3] collective-permute(x), "
      "source_target_pairs={{0,2},{2,1}}\n}\n";
  EXPECT_THAT(Needed(permute, 0, {1, 2, 3}), ElementsAre(std::tuple(0, 0, 12)));
  EXPECT_THAT(Needed(permute, 0, {1, 3}), IsEmpty());
}

TEST(CollectiveRuns, OfAnAllReduceAndAnAllGatherAreWholeOperands) {
  EXPECT_THAT(Needed("ENTRY e {\n x = f32[3] parameter(0)\n ROOT y = f32[3] all-reduce(x), "
                     "replica_groups={{0,1,2,3}}, to_apply=add\n}\n",
                     1, {2}),
              ElementsAre(std::tuple(0, 0, 12)));
  EXPECT_THAT(Needed("ENTRY e {\n x = f32[3] parameter(0)\n ROOT y = f32[12] all-gather(x), "
                     "replica_groups={{0,1,2,3}}, dimensions={0}\n}\n",
                     1, {2, 3}),
              ElementsAre(std::tuple(0, 0, 12)));
}

}  // namespace
}  // namespace hlod::engine
