// Shape rules of collectives, transfers, tokens and asynchronous pairs: XLA's operation semantics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/hlo/collectives/replica_groups.h"
#include "tests/unit/common/hlo/inference/test_util.h"

namespace hlod::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ReplicaGroups Lists(std::vector<Dims> lists) {
  ReplicaGroups groups;
  groups.lists = std::move(lists);
  return groups;
}
ReplicaGroups Iota(int64_t count, int64_t size, Dims reshape, Dims transpose) {
  return {.form = ReplicaGroups::Form::kIota,
          .count = count,
          .size = size,
          .reshape = reshape,
          .transpose = transpose};
}
CollectiveAttributes Among(ReplicaGroups groups, Dims dimensions = {}) {
  CollectiveAttributes attributes;
  attributes.groups = std::move(groups);
  attributes.dimensions = std::move(dimensions);
  return attributes;
}
const std::vector<ProgramShape>& Adder() {
  static const auto* const adder = new std::vector<ProgramShape>{Signature({"f32[]", "f32[]"}, "f32[]")};
  return *adder;
}

// 2x4 devices in rows of four; transposed, four columns of two.
TEST(ReplicaGroups, AnIotaIsReshapedTransposedAndCut) {
  EXPECT_THAT(ListGroups(Iota(2, 4, {8}, {0})), ElementsAre(Dims{0, 1, 2, 3}, Dims{4, 5, 6, 7}));
  EXPECT_THAT(ListGroups(Iota(4, 2, {2, 4}, {1, 0})),
              ElementsAre(Dims{0, 4}, Dims{1, 5}, Dims{2, 6}, Dims{3, 7}));
  EXPECT_THAT(ListGroups(Lists({{1, 0}, {3, 2}})), ElementsAre(Dims{1, 0}, Dims{3, 2}));
}

TEST(ReplicaGroups, AreRefusedWhenTheyMeanNothing) {
  const auto refusal = [](const ReplicaGroups& groups) {
    return std::string(FromAbsl(CheckGroups(groups).message()));
  };
  EXPECT_EQ(refusal(Lists({})), "");
  EXPECT_THAT(refusal(Lists({{0}, {}})), HasSubstr("is empty"));
  EXPECT_THAT(refusal(Lists({{0}, {1, 2}})), HasSubstr("has (2) devices, and the first has (1)"));
  EXPECT_TRUE(CheckGroups(Lists({{0}, {1, 2}}), /*uneven=*/true).ok());
  EXPECT_THAT(refusal(Lists({{0, -1}})), HasSubstr("(-1)"));
  EXPECT_THAT(refusal(Lists({{0, 1}, {1, 2}})), HasSubstr("(1) is in replica groups twice"));
  EXPECT_THAT(refusal(Iota(2, 2, {5}, {0})), HasSubstr("other than its (4) devices"));
  EXPECT_THAT(refusal(Iota(2, 2, {2, 2}, {0, 0})), HasSubstr("not a permutation"));
  EXPECT_THAT(refusal(Iota(0, 2, {}, {})), HasSubstr("is empty"));
  EXPECT_THAT(refusal(Iota(int64_t{1} << 40, int64_t{1} << 40, {1}, {0})),
              HasSubstr("exceeds the limit (1048576)"));
  EXPECT_THAT(refusal(Iota(1, 4, {int64_t{1} << 62, 4}, {0, 1})), HasSubstr("other than its (4) devices"));
}

TEST(InferCollective, OperandsComeBackReduced) {
  const CollectiveAttributes two = Among(Lists({{0, 1}}));
  EXPECT_EQ(Infer(kAllReduce, {"f32[4,2]"}, two, {}, Adder()), "f32[4,2]");
  EXPECT_EQ(Infer(kAllReduce, {"f32[4]", "f32[2]"}, two, {}, Adder()), "(f32[4], f32[2])");
  EXPECT_EQ(Infer(kAllReduceStart, {"f32[4]"}, two, {}, Adder()), "f32[4]");
  EXPECT_EQ(Infer(kAllReduceDone, {"f32[4]"}), "f32[4]");
  EXPECT_EQ(Infer(kCollectiveReduce, {"f32[4]"}, two, {}, Adder()), "f32[4]");
  EXPECT_EQ(Infer(kCollectiveBroadcast, {"f32[4]", "s8[]"}, two), "(f32[4], s8[])");
  EXPECT_THAT(Infer(kAllReduce, {"s32[4]"}, two, {}, Adder()), HasSubstr("s32"));
  EXPECT_THAT(Infer(kAllReduce, {}, two, {}, Adder()), HasSubstr("no operands"));
  EXPECT_THAT(Infer(kAllReduce, {"f32[4]"}, Among(Lists({{0}, {0}})), {}, Adder()), HasSubstr("twice"));
}

TEST(InferCollective, GathersAndScattersAlongOneDimension) {
  EXPECT_EQ(Infer(kAllGather, {"f32[4,2]"}, Among(Lists({{0, 1, 2}}), {0})), "f32[12,2]");
  EXPECT_EQ(Infer(kAllGather, {"f32[4]", "s32[2]"}, Among(Iota(2, 2, {4}, {0}), {0})), "(f32[8], s32[4])");
  // Without groups, the stated shape determines the number of participants.
  EXPECT_EQ(Infer(kAllGather, {"f32[4,2]"}, Among({}, {1}), {"f32[4,6]"}), "f32[4,6]");
  EXPECT_EQ(Infer(kAllGather, {"f32[4,2]"}, Among({}, {1})), "f32[4,2]");
  EXPECT_EQ(Infer(kAllGatherStart, {"f32[4]"}, Among(Lists({{0, 1}}), {0})), "(f32[4], f32[8])");
  EXPECT_EQ(Infer(kAllGatherDone, {"(f32[4], f32[8])"}), "f32[8]");
  EXPECT_EQ(Infer(kReduceScatter, {"f32[4,2]"}, Among(Lists({{0, 1}}), {0}), {}, Adder()), "f32[2,2]");
  EXPECT_EQ(Infer(kReduceScatter, {"f32[4,2]"}, Among({}, {0}), {"f32[1,2]"}, Adder()), "f32[1,2]");
  EXPECT_THAT(Infer(kReduceScatter, {"f32[4]"}, Among(Lists({{0, 1, 2}}), {0}), {}, Adder()),
              HasSubstr("does not fit the (3) that take part"));
  EXPECT_THAT(Infer(kAllGather, {"f32[4]"}, Among({}, {1})), HasSubstr("dimension"));
  EXPECT_THAT(Infer(kAllGather, {"f32[4]"}, Among({})), HasSubstr("(0) that all-gather names"));
}

TEST(InferCollective, ReplicasOfAChannelComeWithTheirPartitions) {
  CollectiveAttributes two = Among(Lists({{0, 1}}), {0});
  two.channel_id = 1;
  // The groups have two of the four participants.
  EXPECT_EQ(Infer(kAllGather, {"f32[1,3]"}, two, {"f32[8,3]"}), "f32[8,3]");
  EXPECT_EQ(Infer(kAllGather, {"f32[1,3]"}, two, {"f32[3,3]"}), "f32[2,3]");
  EXPECT_EQ(Infer(kReduceScatter, {"f32[8]"}, two, {"f32[1]"}, Adder()), "f32[1]");
  two.use_global_device_ids = true;
  EXPECT_EQ(Infer(kAllGather, {"f32[1,3]"}, two, {"f32[8,3]"}), "f32[2,3]");
  two = Among(Lists({{0, 1}}));
  two.channel_id = 1;  // With a channel, the groups name partitions.
  EXPECT_THAT(Infer(kAllToAll, {"f32[4]", "f32[4]", "f32[4]", "f32[4]"}, two),
              HasSubstr("among (2) has (4)"));
}

TEST(InferCollective, AllToAll) {
  EXPECT_EQ(Infer(kAllToAll, {"f32[4,2]"}, Among(Lists({{0, 1}}), {0})), "f32[4,2]");
  EXPECT_EQ(Infer(kAllToAll, {"f32[4]", "f32[4]"}, Among(Lists({{0, 1}}))), "(f32[4], f32[4])");
  EXPECT_THAT(Infer(kAllToAll, {"f32[3]"}, Among(Lists({{0, 1}}), {0})), HasSubstr("divide among (2)"));
  EXPECT_THAT(Infer(kAllToAll, {"f32[4]"}, Among(Lists({{0, 1}}))), HasSubstr("among (2) has (1) operands"));
  EXPECT_THAT(Infer(kAllToAll, {"f32[4]", "f32[2]"}, Among({})), HasSubstr("Operand 1"));
  EXPECT_EQ(Infer(kRaggedAllToAll, {"f32[8,2]", "f32[4,2]", "s32[2]", "s32[2]", "s32[2]", "s32[2]"},
                  Among(Lists({{0, 1}}))),
            "f32[4,2]");
  EXPECT_THAT(
      Infer(kRaggedAllToAll, {"f32[8,2]", "f32[4,3]", "s32[2]", "s32[2]", "s32[2]", "s32[2]"}, Among({})),
      HasSubstr("other rows"));
  EXPECT_THAT(Infer(kRaggedAllToAll, {"f32[8]", "f32[4]", "s32[2]", "s32[3]", "s32[2]", "s32[2]"}, Among({})),
              HasSubstr("Operand 3"));
}

TEST(InferCollective, Permutations) {
  PermuteAttributes swap;
  swap.pairs = {{0, 1}, {1, 0}};
  EXPECT_EQ(Infer(kCollectivePermute, {"f32[4]"}, swap), "f32[4]");
  EXPECT_EQ(Infer(kCollectivePermuteStart, {"f32[4]"}, swap), "(f32[4], f32[4])");
  EXPECT_EQ(Infer(kCollectivePermuteStart, {"f32[4]"}, swap, {"(f32[4], f32[4], u32[], u32[])"}),
            "(f32[4], f32[4], u32[], u32[])");
  EXPECT_EQ(Infer(kCollectivePermuteDone, {"(f32[4], f32[4])"}), "f32[4]");
  swap.pairs = {{0, 1}, {0, 2}};
  EXPECT_THAT(Infer(kCollectivePermute, {"f32[4]"}, swap), HasSubstr("(0) is a source"));
  swap.pairs = {{0, 1}, {2, 1}};
  EXPECT_THAT(Infer(kCollectivePermute, {"f32[4]"}, swap), HasSubstr("(1) is a target"));
  swap.pairs = {{-1, 1}};
  EXPECT_THAT(Infer(kCollectivePermute, {"f32[4]"}, swap), HasSubstr("negative"));
}

TEST(InferEffects, TransfersToTheHost) {
  EXPECT_EQ(Infer(kInfeed, {"token[]"}, InfeedAttributes{}, {"(f32[4], token[])"}), "(f32[4], token[])");
  EXPECT_THAT(Infer(kInfeed, {"token[]"}, InfeedAttributes{}, {"f32[4]"}), HasSubstr("not (data, token[])"));
  EXPECT_THAT(Infer(kInfeed, {"f32[]"}, InfeedAttributes{}, {"(f32[4], token[])"}), HasSubstr("not a token"));
  EXPECT_EQ(Infer(kOutfeed, {"f32[4]", "token[]"}, OutfeedAttributes{"", S("f32[4]{0}")}), "token[]");
  EXPECT_THAT(Infer(kOutfeed, {"f32[4]", "token[]"}, OutfeedAttributes{"", S("f32[5]")}),
              HasSubstr("outfeed_shape"));
  EXPECT_EQ(Infer(kSend, {"f32[4]", "token[]"}, ChannelAttributes{1}), "(f32[4], u32[], token[])");
  EXPECT_EQ(Infer(kSendDone, {"(f32[4], u32[], token[])"}, ChannelAttributes{1}), "token[]");
  EXPECT_EQ(Infer(kRecv, {"token[]"}, ChannelAttributes{1}, {"(f32[4], u32[], token[])"}),
            "(f32[4], u32[], token[])");
  EXPECT_EQ(Infer(kRecvDone, {"(f32[4], u32[], token[])"}, ChannelAttributes{1}), "(f32[4], token[])");
  EXPECT_THAT(Infer(kRecvDone, {"f32[4]"}, ChannelAttributes{1}), HasSubstr("not a transfer"));
}

TEST(InferEffects, HalvesOfAsynchronousInstructions) {
  EXPECT_EQ(Infer(kCopyStart, {"f32[4]"}), "(f32[4], f32[4], u32[])");
  EXPECT_EQ(Infer(kCopyDone, {"(f32[4], f32[4], u32[])"}), "f32[4]");
  EXPECT_THAT(Infer(kCopyDone, {"f32[4]"}), HasSubstr("copy-start"));
  const std::vector<ProgramShape> called = {Signature({"f32[4]", "s32[]"}, "f32[2]")};
  EXPECT_EQ(Infer(kAsyncStart, {"f32[4]", "s32[]"}, NoAttributes{},
                  {"((f32[4], s32[]), f32[2], u32[], s32[])"}, called),
            "((f32[4], s32[]), f32[2], u32[], s32[])");
  EXPECT_EQ(Infer(kAsyncStart, {"f32[4]", "s32[]"}, NoAttributes{}, {}, called), "((f32[4], s32[]), f32[2])");
  EXPECT_THAT(Infer(kAsyncStart, {"f32[4]"}, NoAttributes{}, {}, called),
              HasSubstr("does not take its (1) operands"));
  EXPECT_EQ(Infer(kAsyncUpdate, {"((f32[4]), f32[2])"}), "((f32[4]), f32[2])");
  EXPECT_EQ(Infer(kAsyncDone, {"((f32[4]), f32[2])"}), "f32[2]");
  EXPECT_THAT(Infer(kAsyncDone, {"f32[2]"}), HasSubstr("was started"));
  EXPECT_EQ(Infer(kAddDependency, {"f32[2]", "token[]"}), "f32[2]");
  EXPECT_THAT(Infer(kAddDependency, {"f32[2]", "f32[2]"}), HasSubstr("not a token"));
  EXPECT_EQ(Infer(kRngGetAndUpdateState, {}, RngStateAttributes{3}), "u64[2]");
}

}  // namespace
}  // namespace hlod::hlo
