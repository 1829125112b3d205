// The bytes that participants of a collective take from each other, against hand arithmetic.
#include "server/engine/plan/lowering/collective_moves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/hlo/text/text.h"
#include "server/engine/plan/plan.h"

namespace hlod::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Move = CollectiveMove;

constexpr char kAdd[] = R"(HloModule m, replica_count=4
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}
)";

// Returns the moves of the collective that is the root of the entry.
std::optional<CollectiveMoves> MovesOf(const std::string& entry) {
  const auto module = hlo::ParseModule(kAdd + entry);
  EXPECT_TRUE(module.ok()) << module.status();
  const hlo::Instruction root = (*module)->entry().root();
  const auto collective = hlo::ReadCollective(root, hlo::ParticipantsOf(**module));
  EXPECT_TRUE(collective.ok()) << collective.status();
  return CollectiveMoves::Of(root, *collective);
}

TEST(CollectiveMoves, OfAReduceScatterAreTheReceiversPieces) {
  // The group's positions: 3, 1, 0, 2. A piece is two rows of two floats.
  const auto rows = MovesOf(
      "ENTRY e {\n x = f32[8,2] parameter(0)\n ROOT y = f32[2,2] reduce-scatter(x), "
      "replica_groups={{3,1,0,2}}, dimensions={0}, to_apply=add\n}\n");
  EXPECT_EQ(rows->results(), CollectiveMoves::Results::kReduced);
  EXPECT_THAT(rows->Between(0, 1),
              ElementsAre(Move{.bytes = 16, .from = 16, .from_row = 64, .to = 0, .to_row = 16}));
  EXPECT_THAT(rows->Between(2, 2),
              ElementsAre(Move{.bytes = 16, .from = 48, .from_row = 64, .to = 0, .to_row = 16}));
  EXPECT_EQ(rows->ApartInOperands(512), 0);
  // Two rows of 256 of the 1024 floats.
  const auto columns = MovesOf(
      "ENTRY e {\n x = f32[2,1024] parameter(0)\n ROOT y = f32[2,256] reduce-scatter(x), "
      "replica_groups={{0,1,2,3}}, dimensions={1}, to_apply=add\n}\n");
  EXPECT_THAT(
      columns->Between(0, 2),
      ElementsAre(Move{.rows = 2, .bytes = 1024, .from = 2048, .from_row = 4096, .to = 0, .to_row = 1024}));
  EXPECT_EQ(columns->ApartInOperands(512), 0);
  EXPECT_EQ(columns->ApartInOperands(2000), 2048);
}

TEST(CollectiveMoves, OfAnAllToAllGoToTheSendersPlace) {
  const auto pieces = MovesOf(
      "ENTRY e {\n x = f32[3,8] parameter(0)\n ROOT y = f32[3,8] all-to-all(x), "
      "replica_groups={{0,1},{3,2}}, dimensions={1}\n}\n");
  EXPECT_EQ(pieces->results(), CollectiveMoves::Results::kEach);
  EXPECT_THAT(pieces->Between(2, 3),
              ElementsAre(Move{.rows = 3, .bytes = 16, .from = 0, .from_row = 32, .to = 16, .to_row = 32}));
  EXPECT_EQ(pieces->ApartInOperands(512), 64);  // 48, rounded up.
  EXPECT_EQ(pieces->ApartInResults(512), 64);
  const auto operands = MovesOf(
      "ENTRY e {\n x = f32[3] parameter(0)\n y = f32[3] parameter(1)\n"
      " ROOT t = (f32[3], f32[3]) all-to-all(x, y), replica_groups={{1,0},{2,3}}\n}\n");
  EXPECT_THAT(operands->Between(0, 1), ElementsAre(Move{.operand = 0, .result = 1, .bytes = 12}));
  EXPECT_THAT(operands->Between(1, 0), ElementsAre(Move{.operand = 1, .result = 0, .bytes = 12}));
}

TEST(CollectiveMoves, OfAnAllGatherAreWholeOperands) {
  const auto moves = MovesOf(
      "ENTRY e {\n x = f32[2,3] parameter(0)\n ROOT y = f32[2,12] all-gather(x), "
      "replica_groups={{0,1,2,3}}, dimensions={1}\n}\n");
  EXPECT_EQ(moves->results(), CollectiveMoves::Results::kShared);
  EXPECT_THAT(moves->Between(2, 0),
              ElementsAre(Move{.rows = 2, .bytes = 12, .from = 0, .from_row = 12, .to = 24, .to_row = 48}));
}

TEST(CollectiveMoves, OfAPermutationGoToTheTargets) {
  const auto moves = MovesOf(
      "ENTRY e {\n x = f32[3] parameter(0)\n ROOT y = f32[3] collective-permute(x), "
      "source_target_pairs={{0,2},{2,1}}\n}\n");
  EXPECT_THAT(moves->Between(0, 2), ElementsAre(Move{.bytes = 12}));
  EXPECT_THAT(moves->Between(0, 1), IsEmpty());
}

TEST(CollectiveMoves, AreNotOfReductionsOfWholeOperands) {
  EXPECT_FALSE(MovesOf("ENTRY e {\n x = f32[3] parameter(0)\n ROOT y = f32[3] all-reduce(x), "
                       "replica_groups={{0,1,2,3}}, to_apply=add\n}\n")
                   .has_value());
}

// Returns the memory for a group of which participants 0 and 1 are here, and 2 and 3 elsewhere.
int64_t SpaceOf(const std::string& entry) {
  const auto module = hlo::ParseModule(kAdd + entry);
  EXPECT_TRUE(module.ok()) << module.status();
  const auto plan = Compile(**module);
  EXPECT_TRUE(plan.ok()) << plan.status();
  const auto here = [](int participant) { return participant < 2; };
  EXPECT_EQ((*plan)->ReceiveBytes(1, here), 0);  // Participant 0 acts for both.
  return (*plan)->ReceiveBytes(0, here);
}

TEST(CollectiveMoves, NeedMemoryOnlyForWhatArrivesAndIsNotAResultYet) {
  // Each of the two here gets a piece of 16,384 bytes from each of the two elsewhere.
  EXPECT_EQ(SpaceOf("ENTRY e {\n x = f32[8,2048] parameter(0)\n ROOT y = f32[2,2048] reduce-scatter(x), "
                    "replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add\n}\n"),
            4 * 16384);
  // The runs of the participants here lie apart: they are gathered in one more piece for each.
  EXPECT_EQ(SpaceOf("ENTRY e {\n x = f32[8,2048] parameter(0)\n ROOT y = f32[8,512] reduce-scatter(x), "
                    "replica_groups={{0,1,2,3}}, dimensions={1}, to_apply=add\n}\n"),
            6 * 16384);
  // Pieces arrive in the results.
  EXPECT_EQ(SpaceOf("ENTRY e {\n x = f32[8,2048] parameter(0)\n ROOT y = f32[8,2048] all-to-all(x), "
                    "replica_groups={{0,1,2,3}}, dimensions={1}\n}\n"),
            0);
  // Runs of 4 bytes are sent, and arrive, side by side: 8 KiB to and from each of two.
  EXPECT_EQ(SpaceOf("ENTRY e {\n x = f32[2048,4] parameter(0)\n ROOT y = f32[2048,4] all-to-all(x), "
                    "replica_groups={{0,1,2,3}}, dimensions={1}\n}\n"),
            2 * 4 * 8192);
  EXPECT_EQ(SpaceOf("ENTRY e {\n x = f32[2048,4] parameter(0)\n ROOT y = f32[2048,16] all-gather(x), "
                    "replica_groups={{0,1,2,3}}, dimensions={1}\n}\n"),
            2 * 32768);
}

}  // namespace
}  // namespace hlod::engine
