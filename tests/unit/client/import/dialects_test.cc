// Tests that operations of other dialects are read as those of StableHLO: MHLO, which older versions of JAX
// and TensorFlow wrote, and arith's constants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "client/import/import.h"
#include "common/hlo/text/text.h"

namespace hlod::stablehlo::dialects {
namespace {

using ::testing::HasSubstr;

std::string Converted(const std::string& text) {
  const auto module = ReadModule(text);
  return module.ok() ? hlo::ToText(**module) : std::string(module.status().message());
}

constexpr char kProgram[] = R"(
func.func @main(%a: tensor<4x3xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
  %z = DIALECT.constant dense<0.0> : tensor<f32>
  %one = "DIALECT.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %t = DIALECT.tanh %a : tensor<4x3xf32>
  %d = "DIALECT.dot_general"(%t, %a) {
    dot_dimension_numbers = #DIALECT.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>,
    precision_config = [#DIALECT<precision DEFAULT>, #DIALECT<precision HIGHEST>]
  } : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
  %r = DIALECT.reduce(%d init: %z) applies DIALECT.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %w:2 = DIALECT.while(%i = %n, %s = %one) : tensor<i32>, tensor<i32>
   cond {
    %c = DIALECT.compare LT, %i, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    DIALECT.return %c : tensor<i1>
  } do {
    %j = DIALECT.add %i, %one : tensor<i32>
    DIALECT.return %j, %s : tensor<i32>, tensor<i32>
  }
  return %r, %w#0 : tensor<4xf32>, tensor<i32>
}
)";

TEST(Dialects, MhloIsStablehlo) {
  const std::string stablehlo = Converted(absl::StrReplaceAll(kProgram, {{"DIALECT", "stablehlo"}}));
  EXPECT_THAT(stablehlo, HasSubstr("ENTRY main"));
  EXPECT_EQ(Converted(absl::StrReplaceAll(kProgram, {{"DIALECT", "mhlo"}})), stablehlo);
}

TEST(Dialects, SomeOfMhloIsChlo) {
  const std::string erf = Converted(
      "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %0 = chlo.erf %a : tensor<4xf32> -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}");
  EXPECT_THAT(erf, HasSubstr(" erf("));
  EXPECT_EQ(Converted("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                      "  %0 = mhlo.erf %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}"),
            erf);
}

TEST(Dialects, WhatOnlyMhloHasIsRefusedByItsName) {
  EXPECT_THAT(Converted("func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                        "  %0 = \"mhlo.domain\"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
                        "  return %0 : tensor<4xf32>\n}"),
              HasSubstr("mhlo.domain"));
}

TEST(Dialects, ConstantsOfArithAreConstants) {
  const std::string program =
      "func.func @main() -> tensor<2xf8E4M3FN> {\n"
      "  %c = arith.constant dense<[1.5, -2.0]> : tensor<2xf8E4M3FN>\n  return %c : tensor<2xf8E4M3FN>\n}";
  EXPECT_THAT(Converted(program), HasSubstr("f8e4m3fn[2] constant({1.5, -2})"));
}

}  // namespace
}  // namespace hlod::stablehlo::dialects
