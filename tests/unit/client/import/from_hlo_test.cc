// Writes HLO as StableHLO: instructions that become several operations, and instructions that cannot be
// written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/import/import.h"
#include "common/hlo/text/text.h"

namespace hlod::stablehlo {
namespace {

using ::testing::HasSubstr;

std::string Written(std::string_view hlo) {
  const auto module = hlo::ParseModule(hlo);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return "";
  const absl::StatusOr<std::string> text = FromHlo(**module);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

TEST(FromHlo, OperationsTypesAndLocations) {
  const std::string text = Written(R"(HloModule jit_f
ENTRY main {
  x = bf16[2,3] parameter(0)
  c = f8e4m3fn[2]{0} constant({1, nan})
  ROOT y = pred[2,3] compare(x, x), direction=LT, metadata={op_name="jit(f)/lt" source_file="a.py" source_line=7}
})");
  EXPECT_THAT(
      text,
      HasSubstr("module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}"));
  EXPECT_THAT(text, HasSubstr("func.func public @main(%arg0: tensor<2x3xbf16>) -> (tensor<2x3xi1>) {"));
  // In f8E4M3FN 1 is 0 0111 000, and NaN has all bits set.
  EXPECT_THAT(text, HasSubstr("dense<[0x38, 0x7F]> : tensor<2xf8E4M3FN>"));
  EXPECT_THAT(
      text,
      HasSubstr("\"stablehlo.compare\"(%arg0, %arg0) {compare_type = #stablehlo<comparison_type FLOAT>, "
                "comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2x3xbf16>, "
                "tensor<2x3xbf16>) -> tensor<2x3xi1> loc(\"jit(f)/lt\"(\"a.py\":7:0))"));
}

TEST(FromHlo, TuplesAreTheirLeavesInside) {
  const std::string text = Written(R"(HloModule m
body {
  s = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[2] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[2]) tuple(next, x)
}
condition {
  s = (s32[], f32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}
ENTRY main {
  s = (s32[], f32[2]) parameter(0)
  w = (s32[], f32[2]) while(s), condition=condition, body=body
  x = f32[2] get-tuple-element(w), index=1
  inner = (f32[2]) tuple(x)
  ROOT r = (f32[2], (f32[2])) tuple(x, inner)
})");
  EXPECT_THAT(
      text, HasSubstr("%arg0: tuple<tensor<i32>, tensor<2xf32>>) -> (tensor<2xf32>, tuple<tensor<2xf32>>)"));
  EXPECT_THAT(text, HasSubstr("%0 = \"stablehlo.get_tuple_element\"(%arg0) {index = 0 : i32}"));
  EXPECT_THAT(text, HasSubstr("%2:2 = \"stablehlo.while\"(%0, %1) ({"));
  EXPECT_THAT(text, HasSubstr("= \"stablehlo.tuple\"(%2#1) : (tensor<2xf32>) -> tuple<tensor<2xf32>>"));
  EXPECT_THAT(text, HasSubstr("\"func.return\"(%2#1, "));
}

TEST(FromHlo, ShortGroupsEndInNegativeNumbers) {
  const std::string text = Written(R"(HloModule m, replica_count=4
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}
ENTRY main {
  x = f32[2] parameter(0)
  ROOT y = f32[2] all-reduce(x), replica_groups={{2},{0,3,1}}, to_apply=add
})");
  EXPECT_THAT(text, HasSubstr("replica_groups = dense<[[2, -1, -1], [0, 3, 1]]> : tensor<2x3xi64>"));
}

TEST(FromHlo, WhatHasNoFormIsNamed) {
  const auto module =
      hlo::ParseModule("HloModule m\nENTRY e {\n  x = s32[2] parameter(0)\n  ROOT y = s32[2] mulhi(x, x)\n}");
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::Status status = FromHlo(**module).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("y (mulhi) cannot be written as StableHLO"));
}

}  // namespace
}  // namespace hlod::stablehlo
