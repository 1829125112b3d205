// Groups along axes of a mesh and along parts of them, by hand; text as jaxlib 0.10.2 prints it.
#include "common/hlo/collectives/mesh_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/errors/status.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/collectives/replica_groups.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"

namespace hlod::hlo {
namespace {

using ::testing::HasSubstr;

std::string Program(std::string_view groups, std::string_view attributes = "") {
  return absl::StrFormat(
      "HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}, replica_count=8\n\nadd {\n  a = f32[] "
      "parameter(0)\n"
      "  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\nENTRY e {\n  x = f32[2]{0} parameter(0)\n"
      "  ROOT r = f32[2]{0} all-reduce(x), replica_groups=%s, to_apply=add%s\n}\n",
      groups, attributes);
}

absl::StatusOr<std::vector<Dims>> Groups(std::string_view text) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Module> module, ParseModule(Program(text)));
  const Instruction root = module->entry().root();
  RETURN_IF_ERROR(CheckGroups(root.attributes<CollectiveAttributes>().groups));
  return ListGroups(root.attributes<CollectiveAttributes>().groups);
}

TEST(MeshGroups, AlongAxesAndPartsOfThem) {
  struct Case {
    std::string text;
    std::vector<Dims> groups;
  };
  const Case cases[] = {
      {"mesh['x'=2,'y'=2] {'x'}", {{0, 2}, {1, 3}}},
      {"mesh['x'=2,'y'=2] {'y'}", {{0, 1}, {2, 3}}},
      {"mesh['x'=2,'y'=2] {'x','y'}", {{0, 1, 2, 3}}},
      {"mesh['x'=2,'y'=2] {'y','x'}", {{0, 2, 1, 3}}},
      {"mesh['x'=2,'y'=2], device_ids=(1,0,3,2) {'y'}", {{1, 0}, {3, 2}}},
      // [0 1; 2 3] transposed: [0 2; 1 3].
      {"mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'y'}", {{0, 2}, {1, 3}}},
      // a = 8 is 2 x 2 x 2: its slowest, middle and fastest part.
      {"mesh['a'=8] {'a':(1)2}", {{0, 4}, {1, 5}, {2, 6}, {3, 7}}},
      {"mesh['a'=8] {'a':(2)2}", {{0, 2}, {1, 3}, {4, 6}, {5, 7}}},
      {"mesh['a'=8] {'a':(4)2}", {{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
      {"mesh['a'=8] {'a':(2)4}", {{0, 1, 2, 3}, {4, 5, 6, 7}}},
      {"mesh['a'=8] {'a':(4)2,'a':(1)2}", {{0, 4, 1, 5}, {2, 6, 3, 7}}},
      {"mesh['a'=4,'b'=2] {'b','a':(1)2}", {{0, 4, 1, 5}, {2, 6, 3, 7}}},
  };
  for (const Case& c : cases) {
    const auto groups = Groups(c.text);
    ASSERT_TRUE(groups.ok()) << c.text << ": " << groups.status();
    EXPECT_EQ(*groups, c.groups) << c.text;
  }
}

TEST(MeshGroups, TextAndProtoComeBackAsTheyWere) {
  for (const char* groups : {"mesh['x'=2,'y'=4] {'x'}", "mesh['a'=8] {'a':(4)2,'a':(1)2}",
                             "mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)) {'y'}",
                             "mesh['x y'=2,'z'=2], device_ids=(1,0,3,2) {'x y'}"}) {
    const std::string text = Program(groups);
    const auto module = ParseModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    ASSERT_TRUE(Verify(**module).ok()) << Verify(**module);
    EXPECT_EQ(ToText(**module), text);
    const auto again = FromProto(ToProto(**module));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(ToText(**again), text);
  }
}

TEST(MeshGroups, ShardingsByNamesComeBackAsTheyWere) {
  for (const char* sharding :
       {"{mesh['a'=2,'b'=2], [{'a'}]}", "{mesh['a'=2,'b'=2], [{'a', 'b'}]}",
        "{mesh['a'=2,'b'=2], [{'a', ?}]}", "{mesh['a'=2,'b'=2], [{}]}", "{mesh['a'=2,'b'=2], [{?}]}",
        "{mesh['a'=2,'b'=2], replicated}", "{mesh[], replicated}", "{maximal_mesh[device_id=1]}",
        "{mesh['a'=8], [{'a':(2)2}], replicated={'a':(1)2}, unreduced={'a':(4)2}}",
        "{mesh['a'=2,'b'=2,'c'=2], [{'a'}], replicated={'b'}, manual={'c'}}",
        "{mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)), [{'a'}]}",
        "{mesh['a'=2,'b'=2], device_ids=(1,0,3,2), [{'b'}], metadata={{op_name=\"x\"}}}"}) {
    const std::string text = Program("{}", absl::StrCat(", sharding=", sharding));
    const auto module = ParseModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_EQ(ToText(**module), text);
    const auto again = FromProto(ToProto(**module));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(ToText(**again), text);
  }
}

TEST(MeshGroups, WhatDoesNotFitIsNamed) {
  const auto said = [](std::string_view text) {
    return std::string(FromAbsl(Groups(text).status().message()));
  };
  EXPECT_THAT(said("mesh['x'=2] {'y'}"), HasSubstr("the mesh has no axis 'y'"));
  EXPECT_THAT(said("mesh['x'=0] {'x'}"), HasSubstr("Axis 'x' of a mesh has size (0)"));
  EXPECT_THAT(said("mesh['x'=2097152] {'x'}"),
              HasSubstr("of size (2097152) makes a mesh of more than (1048576) devices"));
  EXPECT_THAT(said("mesh['x'=8] {'x':(2)3}"), HasSubstr("no part of size (3) after (2)"));
  EXPECT_THAT(said("mesh['x'=8] {'x':(1)4,'x':(2)2}"),
              HasSubstr("The part of size (2) of axis 'x' of a mesh, of size (8), overlaps another"));
  EXPECT_THAT(said("mesh['x'=4] {'x','x'}"), HasSubstr("overlap"));
  EXPECT_THAT(said("mesh['x'=2,'y'=2], device_ids=(0,1,2,2) {'x'}"),
              HasSubstr("A mesh names device (2) twice"));
  std::string parts = "mesh['x'=1048576] {'x'";
  for (int i = 0; i < 64; ++i) parts += ",'x':(1)1";
  EXPECT_THAT(said(parts + "}"), HasSubstr("grouped by (65); the limit of both is (64)"));
  EXPECT_THAT(said("mesh['x'=2,'y'=2], device_ids=([3,2]T(1,0)) {'x'}"), HasSubstr("not a transposed iota"));
}

TEST(MeshGroups, MembersMeetByThem) {
  const auto module = ParseModule(Program("mesh['x'=2,'y'=4] {'x'}"));
  ASSERT_TRUE(module.ok()) << module.status();
  const auto collective = ReadCollective((*module)->entry().root(), ParticipantsOf(**module));
  ASSERT_TRUE(collective.ok()) << collective.status();
  EXPECT_EQ(collective->groups, (std::vector<std::vector<int>>{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
}

}  // namespace
}  // namespace hlod::hlo
