// Manual computations without a partitioner: parts by hand arithmetic, and arrays that cannot be divided.
#include "common/passes/expand/expand_manual.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/evaluator/participants.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"

namespace hlod::passes {
namespace {

using hlo::Literal;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Adds the partition's number to x, each partition on its part of x.
const std::string kSpmd = R"(HloModule m, num_partitions=4
ENTRY e {
  x = s32[4,2] parameter(0)
  marked = s32[4,2] custom-call(x), custom_call_target="Sharding", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  part = s32[2,2] custom-call(marked), custom_call_target="SPMDFullToShardShape", sharding={manual}
  number = u32[] partition-id()
  signed = s32[] convert(number)
  two = s32[] constant(2)
  half = s32[] divide(signed, two)
  each = s32[2,2] broadcast(half), dimensions={}
  sum = s32[2,2] add(part, each)
  ROOT whole = s32[4,2] custom-call(sum), custom_call_target="SPMDShardToFullShape", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
}
)";

const std::string kShardy =
    R"(HloModule m, num_partitions=4, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2, "b"=2]>}}
ENTRY e {
  x = s32[4] parameter(0)
  ROOT part = s32[2] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"b\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\", \"b\"}>"}
}
)";

std::unique_ptr<hlo::Module> Parse(std::string_view text) {
  auto module = hlo::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::vector<Literal> RunPartitions(std::string_view text, const Literal& x) {
  const std::unique_ptr<hlo::Module> module = Parse(text);
  EXPECT_TRUE(HasManualComputations(*module));
  const auto expanded = ExpandManual(*module);
  EXPECT_TRUE(expanded.ok()) << expanded.status();
  if (!expanded.ok()) return {};
  EXPECT_EQ(hlo::Verify(**expanded), absl::OkStatus());
  EXPECT_FALSE(HasManualComputations(**expanded));
  const auto results = EvaluateParticipants(**expanded, {{&x}, {&x}, {&x}, {&x}});
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *results : std::vector<Literal>();
}

std::string Refusal(std::string_view text) {
  const auto expanded = ExpandManual(*Parse(text));
  EXPECT_FALSE(expanded.ok());
  return std::string(expanded.status().message());
}

TEST(ExpandManual, PartsByOpShardings) {
  Literal x(hlo::Shape::Array(hlo::kS32, {4, 2})), want = x;
  for (int i = 0; i < 8; ++i) {
    x.data<int32_t>()[i] = 10 * i;
    want.data<int32_t>()[i] = 10 * i + i / 4;
  }
  const std::vector<Literal> results = RunPartitions(kSpmd, x);
  ASSERT_EQ(results.size(), 4u);
  for (const Literal& result : results) EXPECT_EQ(result, want);
}

TEST(ExpandManual, PartsByShardingsThatNameAxes) {
  const std::string tiles = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}";
  for (const char* axes : {"{mesh['a'=2,'b'=2], [{'a'}, {}]}", "{mesh['b'=4], [{'b':(1)2}, {}]}",
                           "{mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)), [{'b'}, {}]}"}) {
    Literal x(hlo::Shape::Array(hlo::kS32, {4, 2})), want = x;
    for (int i = 0; i < 8; ++i) {
      x.data<int32_t>()[i] = 10 * i;
      want.data<int32_t>()[i] = 10 * i + i / 4;
    }
    const std::vector<Literal> results = RunPartitions(absl::StrReplaceAll(kSpmd, {{tiles, axes}}), x);
    ASSERT_EQ(results.size(), 4u);
    for (const Literal& result : results) EXPECT_EQ(result, want) << axes;
  }
  EXPECT_THAT(Refusal(absl::StrReplaceAll(kSpmd, {{tiles, "{mesh['a'=2,'b'=4], [{'a'}, {}]}"}})),
              HasSubstr("(4)"));
  EXPECT_THAT(Refusal(absl::StrReplaceAll(kSpmd, {{tiles, "{maximal_mesh[device_id=1]}"}})),
              HasSubstr("on device (1) alone"));
}

TEST(ExpandManual, PartsByAxesOfAMesh) {
  const std::vector<Literal> results = RunPartitions(kShardy, Literal::Vector<int32_t>({1, 2, 3, 4}));
  ASSERT_EQ(results.size(), 4u);
  for (int m = 0; m < 4; ++m) {
    EXPECT_EQ(results[m], m % 2 == 0 ? Literal::Vector<int32_t>({1, 2}) : Literal::Vector<int32_t>({3, 4}));
  }
}

// The half of {1, 2, 3, 4} that each device gets, by hand.
TEST(ExpandManual, DevicesInAnotherOrderAndPartsOfAxes) {
  struct Case {
    std::string mesh, axis;
    std::vector<int> half;  // By participant.
  };
  const std::string whole = R"(\"b\")";
  const Case cases[] = {
      {R"("a"=2, "b"=2], device_ids=[3, 2, 1, 0])", whole, {1, 0, 1, 0}},
      {R"("a"=2, "b"=2], device_ids=[0, 3, 1, 2])", whole, {0, 0, 1, 1}},
      {R"("a"=2, "b"=2])", R"(\"b\":(1)2)", {0, 1, 0, 1}},
      {R"("b"=4])", R"(\"b\":(1)2)", {0, 0, 1, 1}},
      {R"("b"=4])", R"(\"b\":(2)2)", {0, 1, 0, 1}},
  };
  for (const Case& c : cases) {
    const std::string text =
        absl::StrReplaceAll(kShardy, {{R"("a"=2, "b"=2])", c.mesh}, {R"({\"b\"}]>)", "{" + c.axis + "}]>"}});
    const std::vector<Literal> results = RunPartitions(text, Literal::Vector<int32_t>({1, 2, 3, 4}));
    ASSERT_EQ(results.size(), 4u) << text;
    for (int m = 0; m < 4; ++m) {
      EXPECT_EQ(results[m],
                c.half[m] == 0 ? Literal::Vector<int32_t>({1, 2}) : Literal::Vector<int32_t>({3, 4}))
          << c.mesh << " " << c.axis << " of participant " << m;
    }
  }
}

TEST(ExpandManual, WhatSaysNoPartsIsRefusedByName) {
  EXPECT_THAT(Refusal(absl::StrReplaceAll(
                  kSpmd, {{"sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}\n  part",
                           "sharding={devices=[1,2,2]<=[4] last_tile_dim_replicate}\n  part"}})),
              AllOf(HasSubstr("part (SPMDFullToShardShape)"),
                    HasSubstr("cuts s32[4,2] into other parts than s32[2,2]")));
  EXPECT_THAT(Refusal(absl::StrReplaceAll(kShardy, {{"<@mesh", "<@other"}})),
              HasSubstr("has no simple form"));
  EXPECT_THAT(Refusal(absl::StrReplaceAll(kShardy, {{"{\\\"b\\\"}]>", "{\\\"b\\\":(2)2}]>"}})),
              HasSubstr("has no simple form"));
  EXPECT_THAT(Refusal(absl::StrReplaceAll(kShardy, {{"<@mesh, [{\\\"b\\\"}]>", ""}})),
              HasSubstr("names (0) shardings"));
  EXPECT_THAT(Refusal(absl::StrReplaceAll(kShardy, {{"num_partitions=4", "num_partitions=8"}})),
              AllOf(HasSubstr("part"), HasSubstr("among (4)"), HasSubstr("(8)")));
}

TEST(ExpandManual, TablesAreBounded) {
  std::string text = "HloModule m, num_partitions=4096\nENTRY e {\n  x0 = f32[4096] parameter(0)\n";
  for (int i = 0; i < 600; ++i) {
    absl::StrAppend(&text, i == 599 ? "  ROOT" : " ", " x", i + 1, " = f32[4096] custom-call(x", i,
                    "), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[1,4096]<=[4096] "
                    "last_tile_dim_replicate}\n");
  }
  EXPECT_THAT(Refusal(text + "}\n"),
              AllOf(HasSubstr("Among (4096) devices"), HasSubstr("the limit is (4194304)")));
}

TEST(ExpandManual, OperandsAndResultsAgree) {
  const std::string none = absl::StrReplaceAll(kShardy, {{"custom-call(x)", "custom-call()"}});
  EXPECT_THAT(Refusal(none), HasSubstr("(0) operands and (1) results"));
  const std::string other = absl::StrReplaceAll(kShardy, {{"part = s32[2]", "part = f32[2]"}});
  EXPECT_THAT(Refusal(other), HasSubstr("cuts s32[4] into other parts than f32[2]"));
}

}  // namespace
}  // namespace hlod::passes
