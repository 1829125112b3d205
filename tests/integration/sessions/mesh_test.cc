// Programs that are divided among the devices of a mesh, through a daemon. XLA's partitioner divides them:
// the tests that compile are skipped where there is no jaxlib.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "common/hlo/elements/npy.h"
#include "hlod/runtime/shards.h"
#include "tests/integration/support/hloctl.h"
#include "tests/support/python.h"

namespace hlod {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = x * w, divided along data and model; z = the sum of x's rows. Parameter 0 and result 0 may share
// memory.
constexpr std::string_view kProgram = R"(HloModule step
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}
ENTRY e {
  x = f32[4,2] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  w = f32[2,2] parameter(1), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  y = f32[4,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = f32[] constant(0)
  z = f32[2] reduce(x, zero), dimensions={0}, to_apply=add
  ROOT t = (f32[4,2], f32[2]) tuple(y, z)
}
)";
const Mesh kMesh({{"data", 2}, {"model", 2}});

Literal X() { return Literal::Array<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}); }
Literal W() { return Literal::Array<float>({2, 2}, {1, 10, 100, 1000}); }
Literal Y() { return Literal::Array<float>({4, 2}, {201, 2010, 403, 4030, 605, 6050, 807, 8070}); }

// Returns false when there is no partitioner here.
bool HasPartitioner() {
  static const std::optional<std::string> python = PythonWith("jaxlib");
  if (python.has_value()) setenv("HLOD_PYTHON", python->c_str(), 1);
  return python.has_value();
}

class MeshPrograms : public Hloctl {
 protected:
  void SetUp() override {
    Hloctl::SetUp();
    StartDaemon({.flags = {"--devices", "4"}});
  }
  static std::string Text(const absl::Status& status) { return std::string(status.message()); }
  Executable Step() { return Must(client_->CompileText(kProgram, {.mesh = kMesh})); }
};

#define SKIP_WITHOUT_PARTITIONER() \
  if (!HasPartitioner()) GTEST_SKIP() << "There is no jaxlib."

TEST_F(MeshPrograms, WholeArgumentsAreCutOnTheDevices) {
  SKIP_WITHOUT_PARTITIONER();
  const Executable step = Step();
  EXPECT_EQ(step.participant_count(), 4);
  EXPECT_EQ(step.argument_shapes()[0], Shape::Array(hlo::kF32, {4, 2}));
  EXPECT_THAT(step.argument_shardings()[0], HasSubstr("devices=[2,1,2]"));
  const Buffer x = Must(client_->device(1).Upload(X())), w = Must(client_->device(0).Upload(W()));
  const std::vector<Buffer> results = Must(step.Execute({x, w}));
  EXPECT_EQ(results[0].shape(), Shape::Array(hlo::kF32, {4, 2}));
  EXPECT_EQ(results[0].shards().size(), 4u);
  EXPECT_EQ(Must(results[0].ToLiteral()), Y());
  EXPECT_EQ(Must(results[1].ToLiteral()), Literal::Vector<float>({16, 20}));
  EXPECT_EQ(Must(x.ToLiteral()), X());  // It was cut, not consumed.
  // Literals are cut, too.
  EXPECT_EQ(Must(Must(step.Execute({X(), W()}))[0].ToLiteral()), Y());
}

TEST_F(MeshPrograms, ShardsAreTakenAndGiven) {
  SKIP_WITHOUT_PARTITIONER();
  const Executable step = Step();
  const Buffer x = Must(UploadShards(*client_, X(), kMesh, step.argument_shardings()[0]));
  ASSERT_EQ(x.shards().size(), 4u);
  EXPECT_EQ(Must(x.shards()[2].ToLiteral()), Literal::Array<float>({2, 2}, {5, 6, 7, 8}));
  EXPECT_EQ(x.shards()[2].device(), 2);
  const Buffer w = Must(UploadShards(*client_, W(), kMesh, step.argument_shardings()[1]));
  EXPECT_EQ(Must(w.shards()[1].ToLiteral()), Literal::Array<float>({2, 1}, {10, 1000}));
  // A result goes into the next program as it lies.
  const std::vector<Buffer> once = Must(step.Execute({x, w})), twice = Must(step.Execute({once[0], w}));
  EXPECT_EQ(Must(twice[1].ToLiteral()), Literal::Vector<float>({2016, 20160}));
  // Participants' own lists.
  std::vector<std::vector<Argument>> lists;
  for (size_t m = 0; m < 4; ++m) lists.push_back({x.shards()[m], w.shards()[m]});
  const std::vector<std::vector<Buffer>> parts = Must(step.ExecuteParticipants(lists));
  EXPECT_EQ(Must(parts[3][1].ToLiteral()), Literal::Vector<float>({16, 20}));
}

TEST_F(MeshPrograms, ADonatedArrayIsConsumedOnEachDevice) {
  SKIP_WITHOUT_PARTITIONER();
  const Executable step = Step();
  const Buffer x = Must(UploadShards(*client_, X(), kMesh, step.argument_shardings()[0]));
  const Buffer w = Must(client_->device(0).Upload(W()));
  const std::vector<Buffer> results = Must(step.Execute({x, w}, {.donate = {0, 1}}));
  EXPECT_EQ(Must(results[0].ToLiteral()), Y());
  EXPECT_EQ(KindOf(x.state()), ErrorKind::kDonated);
  EXPECT_THAT(x.ToLiteral().status().ToString(), HasSubstr("shard 0 of f32[4,2]"));
  EXPECT_FALSE(w.state().ok());
}

TEST_F(MeshPrograms, PlaceholdersAreAbstractOnEachDevice) {
  SKIP_WITHOUT_PARTITIONER();
  const Executable step = Step();
  const Buffer x = Must(PlaceholderShards(*client_, X().shape(), kMesh, step.argument_shardings()[0]));
  EXPECT_TRUE(x.is_placeholder());
  const std::vector<Buffer> results = Must(step.Execute({x, W()}, {.abstract = true}));
  EXPECT_TRUE(results[0].is_placeholder());
  EXPECT_EQ(results[0].shape(), Shape::Array(hlo::kF32, {4, 2}));
  EXPECT_EQ(KindOf(results[0].ToLiteral().status()), ErrorKind::kPlaceholder);
  ASSERT_OK(x.Fill(X()));
  EXPECT_EQ(Must(Must(step.Execute({x, W()}))[0].ToLiteral()), Y());
  // A result fills the placeholder that lies as it does.
  const Buffer y = Must(PlaceholderShards(*client_, Y().shape(), kMesh, step.result_shardings()[0]));
  static_cast<void>(Must(step.Execute({x, W()}, {.fill = {{0, y}}})));
  EXPECT_EQ(Must(y.ToLiteral()), Y());
}

// 5 rows among 2 and 3 columns among 2: the last parts end with zeros.
TEST_F(MeshPrograms, UnevenArraysAreCutAndJoinedOnTheDevices) {
  Literal value(Shape::Array(hlo::kS32, {5, 3}));
  for (int32_t i = 0; i < 15; ++i) value.data<int32_t>()[static_cast<size_t>(i)] = i + 1;
  const std::string sharding = Must(ShardingOf(kMesh, {"data", "model"}, 2));
  EXPECT_EQ(sharding, "{devices=[2,2]<=[4]}");
  const Buffer whole = Must(client_->device(3).Upload(value));
  const Buffer divided = Must(Divide(whole, kMesh, sharding));
  EXPECT_EQ(Must(divided.shards()[3].ToLiteral()), Literal::Array<int32_t>({3, 2}, {12, 0, 15, 0, 0, 0}));
  EXPECT_EQ(Must(divided.ToLiteral()), value);
  EXPECT_EQ(Must(Must(divided.CopyTo(client_->device(2))).ToLiteral()), value);
  // Divided in another way.
  const Buffer other =
      Must(Divide(divided, kMesh, Must(ShardingOf(kMesh, {std::nullopt, {"model", "data"}}, 2))));
  EXPECT_EQ(Must(other.shards()[1].ToLiteral()), Literal::Array<int32_t>({5, 1}, {3, 6, 9, 12, 15}));
  EXPECT_EQ(Must(other.ToLiteral()), value);
  EXPECT_EQ(Must(UploadShards(*client_, value, kMesh, sharding)).sharding(), sharding);
}

// Divides an array of counted numbers by rows, then by columns over the same and over fewer devices.
TEST_F(MeshPrograms, ADividedArrayIsDividedAnewWithoutOneDeviceThatHasAll) {
  for (const Dims& dims : {Dims{8, 8}, Dims{5, 7}, Dims{2, 3}}) {
    std::vector<float> numbers(static_cast<size_t>(dims[0] * dims[1]));
    std::iota(numbers.begin(), numbers.end(), 1.0f);
    Literal whole(Shape::Array(hlo::kF32, dims));
    std::ranges::copy(numbers, whole.data<float>().begin());
    const Buffer rows = Must(UploadShards(*client_, whole, kMesh, "{devices=[4,1]<=[4]}"));
    for (const char* sharding :
         {"{devices=[1,4]<=[4]}", "{devices=[2,2]<=[4]}", "{devices=[2,2]<=[2,2]T(1,0)}",
          "{devices=[1,2,2]<=[4] last_tile_dim_replicate}", "{devices=[4,1]<=[2,2]T(1,0)}", "{replicated}"}) {
      const Buffer again = Must(Divide(rows, kMesh, sharding));
      EXPECT_EQ(again.sharding(), sharding);
      EXPECT_EQ(Must(again.ToLiteral()), whole) << sharding;
      const Buffer wanted = Must(UploadShards(*client_, whole, kMesh, sharding));
      for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(again.shards()[i].device(), wanted.shards()[i].device());
        EXPECT_EQ(Must(again.shards()[i].ToLiteral()), Must(wanted.shards()[i].ToLiteral())) << sharding << i;
      }
      EXPECT_EQ(Must(Divide(again, kMesh, "{devices=[4,1]<=[4]}")).sharding(), rows.sharding());
    }
    EXPECT_EQ(Must(rows.ToLiteral()), whole);
  }
}

TEST_F(MeshPrograms, OnlyThePiecesThatAreElsewhereAreCopied) {
  const Buffer rows =
      Must(UploadShards(*client_, Literal(Shape::Array(hlo::kF32, {8, 8})), kMesh, "{devices=[4,1]<=[4]}"));
  const int64_t before = Must(client_->Stats()).device_to_device.bytes;
  const Buffer columns = Must(Divide(rows, kMesh, "{devices=[1,4]<=[4]}"));
  ASSERT_TRUE(columns.ready().Await().ok());
  // Each of four devices gets three pieces of [2,2].
  EXPECT_EQ(Must(client_->Stats()).device_to_device.bytes - before, 4 * 3 * 16);
}

TEST_F(MeshPrograms, AFillThatOnePartRefusesFillsNone) {
  const Buffer array =
      Must(PlaceholderShards(*client_, Shape::Array(hlo::kF32, {4, 2}), kMesh, "{devices=[4,1]<=[4]}"));
  ASSERT_TRUE(array.shards()[1].Fill(Literal::Array<float>({1, 2}, {30, 40})).ok());
  EXPECT_THAT(Text(array.Fill(X())), HasSubstr("it has a value already"));
  EXPECT_TRUE(array.shards()[0].is_placeholder());
  EXPECT_TRUE(array.shards()[2].is_placeholder());
}

// Literals of 20 KB, four times in one execute, are more than it carries.
TEST_F(MeshPrograms, LargeLiteralsAreUploadedOnce) {
  SKIP_WITHOUT_PARTITIONER();
  const Executable twice = Must(client_->CompileText(R"(HloModule twice
ENTRY e {
  x = f32[5000] parameter(0), sharding={replicated}
  y = f32[4,2] parameter(1), sharding={devices=[4,1]<=[4]}
  two = f32[4,2] add(y, y)
  ROOT t = (f32[5000], f32[4,2]) tuple(x, two)
})",
                                                     {.mesh = kMesh}));
  Literal x(Shape::Array(hlo::kF32, {5000}));
  std::ranges::fill(x.data<float>(), 3.0f);
  const std::vector<Buffer> results = Must(twice.Execute({x, X()}));
  EXPECT_EQ(Must(results[0].ToLiteral()), x);
  EXPECT_EQ(Must(results[1].ToLiteral()), Literal::Array<float>({4, 2}, {2, 4, 6, 8, 10, 12, 14, 16}));
}

TEST_F(MeshPrograms, ElementsOfTuplesAreCutEachByItsSharding) {
  SKIP_WITHOUT_PARTITIONER();
  const Executable sum = Must(client_->CompileText(R"(HloModule sum
ENTRY e {
  p = (f32[4,2], f32[4,2]) parameter(0), sharding={{devices=[2,1]0,1}, {replicated}}
  a = f32[4,2] get-tuple-element(p), index=0
  b = f32[4,2] get-tuple-element(p), index=1
  ROOT r = f32[4,2] subtract(a, b), sharding={devices=[2,1]0,1}
}
)",
                                                   {.mesh = Mesh({{"data", 2}})}));
  ASSERT_EQ(sum.argument_shapes().size(), 2u);
  const std::vector<Buffer> results =
      Must(sum.Execute({X(), Literal::Array<float>({4, 2}, {0, 1, 0, 1, 0, 1, 0, 1})}));
  EXPECT_EQ(Must(results[0].ToLiteral()), Literal::Array<float>({4, 2}, {1, 1, 3, 3, 5, 5, 7, 7}));
}

TEST_F(MeshPrograms, AShardingThatDoesNotDivideNamesTheArgument) {
  SKIP_WITHOUT_PARTITIONER();
  const auto compiled = client_->CompileText(R"(HloModule sum
ENTRY e {
  a = f32[4,2] parameter(0), sharding={devices=[2,1]0,1}
  b = f32[4,2] parameter(1), sharding={maximal device=1}
  ROOT r = f32[4,2] add(a, b), sharding={devices=[2,1]0,1}
}
)",
                                             {.mesh = Mesh({{"data", 2}})});
  EXPECT_THAT(Text(compiled.status()), HasSubstr("Argument 1 of sum, f32[4,2]: A sharding of type MAXIMAL"));
}

TEST_F(MeshPrograms, WrongMeshesAreSentences) {
  EXPECT_THAT(Text(client_->CompileText(kProgram, {.mesh = Mesh({{"data", 4}, {"model", 2}})}).status()),
              AllOf(HasSubstr("8 devices (data=4,model=2)"), HasSubstr("the daemon has 4")));
  EXPECT_THAT(Text(client_->CompileText(kProgram, {.mesh = Mesh({{"data", 2}, {"data", 2}})}).status()),
              HasSubstr("has the axis data twice"));
  EXPECT_THAT(Text(client_->CompileText(kProgram, {.mesh = Mesh({{"x", 4}}, {0, 1, 2, 7})}).status()),
              HasSubstr("names device 7; the daemon has 4"));
  EXPECT_THAT(Text(ShardingOf(kMesh, {"data"}, 2).status()), HasSubstr("has 1 dimensions; the array has 2"));
  EXPECT_THAT(Text(ShardingOf(kMesh, {"expert", std::nullopt}, 2).status()),
              HasSubstr("names the axis expert, which the mesh data=2,model=2 does not have"));
  SKIP_WITHOUT_PARTITIONER();
  EXPECT_THAT(Text(client_->CompileText(kProgram, {.mesh = Mesh({{"data", 2}})}).status()),
              HasSubstr("divide arrays among 4 devices"));
  const Executable step = Step();
  EXPECT_THAT(Text(step.Execute({X(), X()}).status()), HasSubstr("the program takes f32[2,2]"));
  EXPECT_THAT(Text(step.Execute({X()}).status()), HasSubstr("takes 2 arguments; 1 were given"));
  EXPECT_THAT(Text(step.Execute({X(), W()}, {.device = 3}).status()),
              AllOf(HasSubstr("is divided among the devices 0, 1, 2, 3"), HasSubstr("name 3.")));
  EXPECT_THAT(Text(step.Execute({X(), W()}, {.devices = {3, 2, 1, 0}}).status()),
              HasSubstr("name 3, 2, 1, 0."));
  EXPECT_EQ(Must(Must(step.Execute({X(), W()}, {.devices = {0, 1, 2, 3}}))[0].ToLiteral()), Y());
  const Buffer x = Must(UploadShards(*client_, X(), kMesh, step.argument_shardings()[0]));
  const Executable whole = Must(client_->CompileText(kProgram));
  EXPECT_THAT(Text(whole.Execute({x, W()}).status()), HasSubstr("is divided among 4 devices"));
}

// Each of four devices sends 3/4 of what it sums: 2 * 3/4 * 4 KiB through the links of 2x2 chips (two lines,
// 9e10 bytes per second each) for the all-reduce, a hop of 1 us per dimension and direction.
TEST_F(MeshPrograms, TheDaemonCountsModelledTimeOfTheNetworkApart) {
  StartDaemon({.flags = {"--devices", "4", "--network", "v5p:1x2x2"}});
  const Executable sum = Must(client_->CompileText(R"(HloModule sum, num_partitions=4
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}
ENTRY e_spmd {
  x = f32[1024] parameter(0)
  ROOT y = f32[1024] all-reduce(x), replica_groups={{0,1,2,3}}, channel_id=1, use_global_device_ids=true, to_apply=add
})"));
  std::vector<std::vector<Argument>> lists(4);
  for (int m = 0; m < 4; ++m)
    lists[static_cast<size_t>(m)].push_back(
        Must(client_->device(m).Upload(Literal(Shape::Array(hlo::kF32, {1024})))));
  for (int run = 0; run < 2; ++run)
    ASSERT_TRUE(Must(sum.ExecuteParticipants(lists))[0][0].ready().Await().ok());
  const double seconds = 2 * (4096.0 * 3 / 4 / (2 * 9e10) + 2 * 1e-6);
  const nlohmann::json graphs = RunJson("graphs");
  EXPECT_EQ(graphs["network_us"], 2 * std::llround(seconds * 1e6));
  EXPECT_EQ(graphs["graphs"][0]["network_bytes"], 2 * 2 * 4096 * 3 / 4);
  EXPECT_EQ(Must(client_->Stats()).network_us, 2 * std::llround(seconds * 1e6));
  EXPECT_EQ(RunJson("executables")["executables"][0]["network_us"], 2 * std::llround(seconds * 1e6));
}

TEST_F(MeshPrograms, HloctlCutsAndAssembles) {
  SKIP_WITHOUT_PARTITIONER();
  std::ofstream(folder_ / "step.hlo") << kProgram;
  ASSERT_OK(hlo::WriteNpy(File("x.npy"), X()));
  ASSERT_OK(hlo::WriteNpy(File("w.npy"), W()));
  const std::string arguments = " --arg " + File("x.npy") + " --arg " + File("w.npy");
  const nlohmann::json y = nlohmann::json::parse("[[201,2010],[403,4030],[605,6050],[807,8070]]");
  const nlohmann::json run = RunJson("run " + File("step.hlo") + " --mesh data=2,model=2" + arguments);
  EXPECT_EQ(run["mesh"], "data=2,model=2");
  ASSERT_EQ(run["results"].size(), 2u);
  EXPECT_EQ(run["results"][0]["value"], y);
  // The file's own mesh; parts of results; parts as arguments.
  EXPECT_EQ(RunJson("run " + File("step.hlo") + arguments)["mesh"], "devices=4");
  const nlohmann::json parts = RunJson("run " + File("step.hlo") + arguments + " --shards");
  ASSERT_EQ(parts["results"].size(), 8u);
  EXPECT_EQ(parts["results"][7]["participant"], 3);
  ASSERT_OK(hlo::WriteNpy(File("top.npy"), Literal::Array<float>({2, 2}, {1, 2, 3, 4})));
  ASSERT_OK(hlo::WriteNpy(File("end.npy"), Literal::Array<float>({2, 2}, {5, 6, 7, 8})));
  std::string by_part = " --arg 1=" + File("w.npy");
  for (const char* at : {"0:0=top", "1:0=top", "2:0=end", "3:0=end"})
    by_part += " --arg " + std::string(at, 4) + (folder_ / (std::string(at + 4) + ".npy")).string();
  EXPECT_EQ(RunJson("run " + File("step.hlo") + by_part)["results"][0]["value"], y);
  EXPECT_THAT(Run("run " + File("step.hlo") + " --arg 0:0=" + File("top.npy")).text,
              HasSubstr("Parameter 0 has no part for participant 1"));
  EXPECT_THAT(Run("run " + File("step.hlo") + " --mesh data=4,model=2").text,
              AllOf(HasSubstr("8 devices"), HasSubstr("the daemon has 4")));
}

}  // namespace
}  // namespace hlod
