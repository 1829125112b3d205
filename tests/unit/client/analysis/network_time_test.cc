// Times of collectives by hand arithmetic, and beside jax.experimental.roofline (programs/, by generate.py).
#include "client/analysis/mesh/network_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/hlo/text/text.h"
#include "tests/support/source_dir.h"

namespace hlod::analysis {
namespace {

using network::CollectiveCost;
using network::CubicShape;
using network::MakeNetwork;
using network::TopologyOf;

CollectiveCost CostOf(const CollectiveUse& use, const Network& on) {
  return network::CostOn(use.collective, use.operand_bytes, on);
}

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<CollectiveUse> UsesOf(const std::string& text, const hlo::Mesh& mesh) {
  const auto module = hlo::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return CollectivesOf(**module, mesh);
}

Network NetworkOf(const std::string& chip, const hlo::Mesh& mesh, const hlo::Dims& shape = {}) {
  int64_t chips = 1;
  for (const auto& [name, size] : mesh.axes) chips *= size;
  auto network = MakeNetwork(*TopologyOf(chip), chips, mesh, shape);
  EXPECT_TRUE(network.ok()) << network.status();
  return *network;
}

// Returns a module in which `partitions` devices do one all-reduce of 1 MiB in the given groups.
std::string AllReduce(int64_t partitions, const std::string& groups) {
  return absl::StrCat(R"(HloModule m, num_partitions=)", partitions, R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[262144] parameter(0)
  ROOT r = f32[262144] all-reduce(x), channel_id=1, use_global_device_ids=true, to_apply=add, replica_groups=)",
                      groups, "\n}\n");
}

constexpr double kMiB = 1 << 20;

TEST(CubicShapes, AreThoseOfGoogleCloudsSlices) {
  EXPECT_THAT(CubicShape(64, 3), ElementsAre(4, 4, 4));
  EXPECT_THAT(CubicShape(128, 3), ElementsAre(4, 4, 8));
  EXPECT_THAT(CubicShape(256, 3), ElementsAre(4, 8, 8));
  EXPECT_THAT(CubicShape(512, 3), ElementsAre(8, 8, 8));
  EXPECT_THAT(CubicShape(32, 2), ElementsAre(4, 8));
  EXPECT_THAT(CubicShape(256, 2), ElementsAre(16, 16));
  EXPECT_THAT(CubicShape(8, 0), ElementsAre(8));
}

// v5p has 9e10 B/s per link, and 1 us per hop. Four of the eight chips' dimensions of 4 are rings.
TEST(NetworkTimes, AnAllReduceOnARingIsAReduceScatterAndAnAllGather) {
  const Network network = NetworkOf("v5p", {.axes = {{"x", 4}, {"y", 4}, {"z", 4}}});
  EXPECT_THAT(network.shape, ElementsAre(4, 4, 4));
  const auto uses = UsesOf(AllReduce(64, "[16,4]<=[64]"), network.mesh);
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_THAT(uses[0].axes, ElementsAre(2));
  const CollectiveCost cost = CostOf(uses[0], network);
  EXPECT_DOUBLE_EQ(cost.bytes, 2 * kMiB * 3 / 4);
  EXPECT_DOUBLE_EQ(cost.seconds, 2 * (kMiB * 3 / 4 / (2 * 9e10) + 2e-6));
}

TEST(NetworkTimes, DimensionsAddTheirLinks) {
  const Network network = NetworkOf("v5p", {.axes = {{"x", 4}, {"yz", 16}}});
  const auto uses = UsesOf(AllReduce(64, "[4,16]<=[64]"), network.mesh);
  EXPECT_THAT(uses[0].axes, ElementsAre(1));
  EXPECT_DOUBLE_EQ(CostOf(uses[0], network).seconds, 2 * (kMiB * 15 / 16 / (4 * 9e10) + 4e-6));
}

// On a v5e slice of 4x4 no dimension is a ring: 3 hops along a line of one link.
TEST(NetworkTimes, ALineTakesTwiceAsLongAsARing) {
  const Network network = NetworkOf("v5e", {.axes = {{"x", 4}, {"y", 4}}});
  const auto uses = UsesOf(AllReduce(16, "[4,4]<=[16]"), network.mesh);
  EXPECT_DOUBLE_EQ(CostOf(uses[0], network).seconds, 2 * (kMiB * 3 / 4 / 4.5e10 + 3e-6));
}

// Two axes share the dimension of 8: groups along the first one are every fourth chip, and four groups share
// the links.
TEST(NetworkTimes, AxesThatShareADimensionShareItsLinks) {
  const Network network = NetworkOf("v5e", {.axes = {{"outer", 2}, {"inner", 4}}}, {1, 8});
  const auto uses = UsesOf(AllReduce(8, "[4,2]<=[2,4]T(1,0)"), network.mesh);
  EXPECT_THAT(uses[0].axes, ElementsAre(0));
  EXPECT_DOUBLE_EQ(CostOf(uses[0], network).seconds, 2 * (kMiB / 2 / (4.5e10 / 4) + 4e-6));
}

// 16 GPUs are two nodes of 8: within a node NVLink, between the nodes 8 network cards.
TEST(NetworkTimes, NodesReduceAmongThemselvesWithAllTheirCards) {
  const Network network = NetworkOf("h100", {.axes = {{"data", 16}}});
  EXPECT_EQ(network.domains, 2);
  const auto uses = UsesOf(AllReduce(16, "[1,16]<=[16]"), network.mesh);
  EXPECT_DOUBLE_EQ(CostOf(uses[0], network).seconds,
                   2 * (kMiB * 7 / 8 / 4.5e11 + 3 * 3e-6 + kMiB / 2 / (8 * 5e10) + 5e-6));
  const auto inside = UsesOf(AllReduce(16, "[2,8]<=[16]"), network.mesh);
  EXPECT_DOUBLE_EQ(CostOf(inside[0], network).seconds, 2 * (kMiB * 7 / 8 / 4.5e11 + 3 * 3e-6));
}

TEST(NetworkTimes, LoopsCountTheirIterations) {
  const Network network = NetworkOf("v5p", {.axes = {{"x", 4}}}, {1, 1, 4});
  const auto uses = UsesOf(R"(HloModule m, num_partitions=4
body {
  s = (s32[], f32[256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[256] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[256] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  ROOT r = (s32[], f32[256]) tuple(next, y)
}
condition {
  s = (s32[], f32[256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(12)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  zero = s32[] constant(0)
  x = f32[256] parameter(0)
  init = (s32[], f32[256]) tuple(zero, x)
  ROOT w = (s32[], f32[256]) while(init), condition=condition, body=body
})",
                           network.mesh);
  const auto use = NetworkUseOf(uses, network);
  ASSERT_TRUE(use.ok()) << use.status();
  ASSERT_EQ(use->rows.size(), 1u);
  EXPECT_EQ(use->rows[0].opcode, hlo::kCollectivePermute);
  EXPECT_THAT(use->rows[0].axes, ElementsAre(0));
  EXPECT_EQ(use->rows[0].runs, 12);
  EXPECT_EQ(use->bytes, 12 * 1024);
  EXPECT_DOUBLE_EQ(use->seconds, 12 * (1024 / 9e10 + 1e-6));
}

TEST(NetworkTimes, WhatDoesNotFitIsRefused) {
  const Topology v5p = *TopologyOf("v5p");
  EXPECT_FALSE(TopologyOf("abacus").has_value());
  EXPECT_THAT(std::string(MakeNetwork(v5p, 64, {.axes = {{"x", 32}}}).status().message()),
              HasSubstr("32 devices; the target has 64 chips"));
  EXPECT_THAT(std::string(MakeNetwork(v5p, 64, {}, {4, 4}).status().message()),
              HasSubstr("topology 4x4 has 2 dimensions and 16 chips; one of v5p has 3 dimensions"));
  const auto network = MakeNetwork(v5p, 64, {});
  ASSERT_TRUE(network.ok()) << network.status();
  const auto use = NetworkUseOf(UsesOf(AllReduce(16, "[1,16]<=[16]"), {.axes = {{"x", 16}}}), *network);
  EXPECT_THAT(std::string(use.status().message()), HasSubstr("16 participants; the target has 64 chips"));
}

// 100,000 all-reduces among 64 devices, each with groups of its own: after a limit they cost per byte what
// those before cost, which here is exact, because all are of one size and along one axis.
TEST(NetworkTimes, TooManyCollectivesCostWhatOthersOfTheirKindCost) {
  const Network network = NetworkOf("v5p", {.axes = {{"x", 4}, {"y", 4}, {"z", 4}}});
  constexpr int kCount = 100'000;
  std::string text = R"(HloModule m, num_partitions=64
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x0 = f32[262144] parameter(0)
)";
  for (int n = 1; n <= kCount; ++n) {
    absl::StrAppend(&text, "  x", n, " = f32[262144] all-reduce(x", n - 1, "), channel_id=", n,
                    ", use_global_device_ids=true, to_apply=add, replica_groups=[16,4]<=[64]\n");
  }
  const auto module = hlo::ParseModule(text + "}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  const CollectiveCost cost = network::CostOfRun(**module, {.partitions = 64}, network);
  EXPECT_NEAR(cost.bytes, kCount * 2 * kMiB * 3 / 4, 1);
  EXPECT_NEAR(cost.seconds, kCount * 2 * (kMiB * 3 / 4 / (2 * 9e10) + 2e-6), 1e-6);
}

// JAX's roofline counts the bytes through an axis that sends both ways, and hops the whole way around a ring.
// Prints a table of both.
TEST(NetworkTimes, AreWithinTwiceOfJaxsRoofline) {
  const std::string folder = (SourceDir() / "tests/unit/client/analysis/network/programs").string();
  const Network network = NetworkOf("v5p", {.axes = {{"x", 4}, {"y", 4}, {"z", 8}}}, {4, 4, 8});
  std::ifstream rows(folder + "/roofline.csv");
  std::string line;
  ASSERT_TRUE(std::getline(rows, line));
  int programs = 0;
  std::printf("%-20s %10s %12s %6s\n", "program", "hlod, us", "roofline, us", "ratio");
  for (; std::getline(rows, line); ++programs) {
    const std::vector<std::string> cells = absl::StrSplit(line, ',');
    ASSERT_EQ(cells.size(), 3u) << line;
    double bytes = 0, hops = 0;
    ASSERT_TRUE(absl::SimpleAtod(cells[1], &bytes) && absl::SimpleAtod(cells[2], &hops)) << line;
    std::stringstream text;
    text << std::ifstream(folder + "/" + cells[0] + ".hlo").rdbuf();
    const auto use = NetworkUseOf(UsesOf(text.str(), network.mesh), network);
    ASSERT_TRUE(use.ok()) << use.status();
    ASSERT_EQ(use->rows.size(), 1u) << cells[0];
    const double roofline = bytes / (2 * 9e10) + hops * 1e-6;
    std::printf("%-20s %10.2f %12.2f %6.2f\n", cells[0].c_str(), 1e6 * use->seconds, 1e6 * roofline,
                use->seconds / roofline);
    EXPECT_GT(use->seconds, roofline / 2) << cells[0];
    EXPECT_LE(use->seconds, roofline * 2) << cells[0];
  }
  EXPECT_EQ(programs, 12);
}

}  // namespace
}  // namespace hlod::analysis
