// Axes, collectives and replicated arrays of a program over a mesh. Figures are computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/analysis/mesh/mesh_check.h"
#include "common/hlo/text/text.h"

namespace hlod::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const hlo::Mesh& Mesh() {
  static const auto* const mesh = new hlo::Mesh{.axes = {{"data", 4}, {"model", 2}}, .devices = {}};
  return *mesh;
}

// Returns the division that a sharding in HLO text states for f32[64,64].
std::string DivisionOf(const std::string& sharding, std::vector<size_t>* replicated = nullptr) {
  const auto module = hlo::ParseModule(
      "HloModule m\nENTRY e {\n ROOT x = f32[64,64] parameter(0), sharding={" + sharding + "}\n}");
  if (!module.ok()) return std::string(module.status().message());
  const AxisSpec spec = SpecOf((*module)->entry().notes(0)->sharding, 2, Mesh());
  if (replicated != nullptr) *replicated = spec.replicated;
  return ToString(spec, Mesh());
}

TEST(Axes, AreReadFromTheDevicesOfTiles) {
  std::vector<size_t> replicated;
  EXPECT_EQ(DivisionOf("devices=[4,1,2]<=[8] last_tile_dim_replicate", &replicated), "[data, -]");
  EXPECT_THAT(replicated, ElementsAre(1));
  EXPECT_EQ(DivisionOf("devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate", &replicated), "[-, model]");
  EXPECT_THAT(replicated, ElementsAre(0));
  EXPECT_EQ(DivisionOf("devices=[4,2]<=[8]", &replicated), "[data, model]");
  EXPECT_THAT(replicated, IsEmpty());
  EXPECT_EQ(DivisionOf("devices=[8,1]<=[8]"), "[data+model, -]");
  EXPECT_EQ(DivisionOf("devices=[8,1]<=[4,2]T(1,0)"), "[model+data, -]");
  EXPECT_EQ(DivisionOf("replicated", &replicated), "[-, -]");
  EXPECT_THAT(replicated, ElementsAre(0, 1));
  EXPECT_EQ(DivisionOf("devices=[2,1,4]<=[8] last_tile_dim_replicate"), "") << "half of data is not an axis";
}

TEST(Axes, OfGroupsAndPairs) {
  EXPECT_THAT(AxesOf({{0, 1}, {2, 3}, {4, 5}, {6, 7}}, Mesh()), ElementsAre(1));
  EXPECT_THAT(AxesOf({{0, 2, 4, 6}, {1, 3, 5, 7}}, Mesh()), ElementsAre(0));
  EXPECT_THAT(AxesOf({{0, 1, 2, 3, 4, 5, 6, 7}}, Mesh()), ElementsAre(0, 1));
  EXPECT_THAT(AxesOf({{0, 2}, {4, 6}, {1, 3}, {5, 7}}, Mesh()), IsEmpty()) << "pairs along data, which has 4";
  EXPECT_THAT(AxesOfPairs({6, 7, 0, 1, 2, 3, 4, 5}, Mesh()), ElementsAre(0)) << "a rotation along data";
}

// A matrix product whose contracted dimension is divided over model, in a loop of 5 iterations.
constexpr char kDevice[] = R"(
HloModule step, num_partitions=8
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
condition { c = (s32[], f32[16,32], f32[32,32]) parameter(0) i = s32[] get-tuple-element(c), index=0 n = s32[] constant(5) ROOT less = pred[] compare(i, n), direction=LT }
body {
  c = (s32[], f32[16,32], f32[32,32]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  x = f32[16,32] get-tuple-element(c), index=1
  w = f32[32,32] get-tuple-element(c), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[16,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sum = f32[16,32] all-reduce(y), channel_id=1, replica_groups={{0,1},{2,3},{4,5},{6,7}}, use_global_device_ids=true, to_apply=add, metadata={op_name="step/dot" source_file="model.py" source_line=7}
  ROOT t = (s32[], f32[16,32], f32[32,32]) tuple(next, sum, w)
}
ENTRY main_spmd {
  x = f32[16,32] parameter(0), metadata={op_name="x"}
  w = f32[8,32] parameter(1), metadata={op_name="w"}
  whole = f32[32,32] all-gather(w), channel_id=2, dimensions={0}, replica_groups={{0,2,4,6},{1,3,5,7}}, use_global_device_ids=true, metadata={op_name="step/dot" source_file="model.py" source_line=7}
  zero = s32[] constant(0)
  init = (s32[], f32[16,32], f32[32,32]) tuple(zero, x, whole)
  loop = (s32[], f32[16,32], f32[32,32]) while(init), condition=condition, body=body
  ROOT out = f32[16,32] get-tuple-element(loop), index=1
})";

TEST(Collectives, HaveTheirAxesBytesTimesAndLine) {
  const auto module = hlo::ParseModule(kDevice).value();
  std::vector<CollectiveUse> uses = CollectivesOf(*module, Mesh());
  ASSERT_EQ(uses.size(), 2u);
  const CollectiveUse &reduce = uses[0], &gather = uses[1];
  EXPECT_EQ(reduce.opcode, hlo::kAllReduce);
  EXPECT_THAT(reduce.axes, ElementsAre(1));
  EXPECT_EQ(reduce.group_size, 2);
  EXPECT_EQ(reduce.group_count, 4);
  EXPECT_EQ(reduce.bytes(), 16 * 32 * 4);
  EXPECT_EQ(reduce.times, 5);
  EXPECT_EQ(ToString(reduce.source), "model.py:7");
  EXPECT_EQ(gather.opcode, hlo::kAllGather);
  EXPECT_THAT(gather.axes, ElementsAre(0));
  EXPECT_EQ(gather.operand_bytes, 8 * 32 * 4);
  EXPECT_EQ(gather.bytes(), 32 * 32 * 4);
  EXPECT_EQ(gather.times, 1);
  const std::vector<CollectiveSum> sums = SumsOf(uses);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].bytes, 5 * 16 * 32 * 4);
  EXPECT_EQ(AxesText(sums[0].axes, sums[0].group_size, Mesh()), "over model");
  EXPECT_EQ(AxesText({}, 2, Mesh()), "among 2");
}

TEST(MeshCheck, NamesWhatOtherDevicesHoldToo) {
  constexpr char kWhole[] = R"(
HloModule step
ENTRY main {
  x = f32[64,64] parameter(0), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}, metadata={op_name="x"}
  ROOT y = f32[64,64] tanh(x), sharding={devices=[4,2]<=[8]}, metadata={op_name="y" source_file="model.py" source_line=3}
})";
  constexpr char kPart[] = R"(
HloModule step, num_partitions=8
ENTRY main_spmd {
  x = f32[16,64] parameter(0), metadata={op_name="x"}
  cut = f32[16,32] slice(x), slice={[0:16], [0:32]}
  ROOT y = f32[16,32] tanh(cut), metadata={op_name="y" source_file="model.py" source_line=3}
})";
  const absl::StatusOr<MeshReport> report = CheckMesh(
      *hlo::ParseModule(kPart).value(), hlo::ParseModule(kWhole).value().get(), Mesh(), std::nullopt, {});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->device.peak_bytes.low, (16 * 64 + 16 * 32) * 4);
  ASSERT_EQ(report->replicated.size(), 1u);
  EXPECT_EQ(report->replicated[0].array.op_name, "x");
  EXPECT_EQ(report->replicated[0].axis, 1u);
  EXPECT_EQ(report->replicated[0].saved, 16 * 64 * 4 / 2);
  EXPECT_EQ(report->replicated[0].division, "[data, -]");
  EXPECT_THAT(ToText(*report), HasSubstr("2.00 KiB  over model: argument x f32[16,64], divided [data, -]"));
  EXPECT_THAT(ToText(*report), HasSubstr("mesh             data=4,model=2; figures are one device's"));
}

}  // namespace
}  // namespace hlod::analysis
