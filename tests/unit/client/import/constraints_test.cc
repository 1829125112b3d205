// Programs that StableHLO's verifier refuses are refused with the rule that they break. jaxlib 0.10.2 refused
// each of them; without the error, it and hlod accept them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/import/import.h"
#include "common/base/errors/error.h"

namespace hlod::stablehlo::constraints {
namespace {

using ::testing::HasSubstr;

std::string BrokenRule(const std::string& text) {
  const auto module = ReadModule(text);
  return module.ok() ? "no error" : hlod::ErrorOf(module.status()).text;
}

// A function of one operation in the generic form: "name" operands <{ATTRIBUTES}> region : type.
struct OneOperation {
  const char *arguments, *operation, *type, *results;
};
std::string ProgramOf(const OneOperation& operation, const std::string& attributes) {
  const std::string body = absl::StrReplaceAll(operation.operation, {{"ATTRIBUTES", attributes}});
  return absl::StrCat("func.func public @main(", operation.arguments, ") -> ", operation.results,
                      " {\n  %0 = ", body, " : ", operation.type, " -> ", operation.results,
                      "\n  return %0 : ", operation.results, "\n}\n");
}

#define ADD_REGION                                                                       \
  " ({^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = stablehlo.add %x, %y : tensor<f32>\n" \
  " stablehlo.return %s : tensor<f32>})"
#define SELECT_REGION                                                                  \
  " ({^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = stablehlo.compare GE, %x, %y : "    \
  "(tensor<f32>, tensor<f32>) -> tensor<i1>\n stablehlo.return %s : tensor<i1>}, "     \
  "{^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = stablehlo.add %x, %y : tensor<f32>\n" \
  " stablehlo.return %s : tensor<f32>})"

constexpr OneOperation kPermute = {"%a: tensor<4xf32>", "\"stablehlo.collective_permute\"(%a) <{ATTRIBUTES}>",
                                   "(tensor<4xf32>)", "tensor<4xf32>"};
constexpr OneOperation kAllReduce = {"%a: tensor<4xf32>",
                                     "\"stablehlo.all_reduce\"(%a) <{ATTRIBUTES}>" ADD_REGION,
                                     "(tensor<4xf32>)", "tensor<4xf32>"};
constexpr OneOperation kReduceScatter = {
    "%a: tensor<4xf32>",
    "\"stablehlo.reduce_scatter\"(%a) <{scatter_dimension = 0 : i64, ATTRIBUTES}>" ADD_REGION,
    "(tensor<4xf32>)", "tensor<2xf32>"};
constexpr OneOperation kAllGather = {"%a: tensor<4xf32>",
                                     "\"stablehlo.all_gather\"(%a) <{all_gather_dim = 0 : i64, ATTRIBUTES}>",
                                     "(tensor<4xf32>)", "tensor<8xf32>"};
constexpr OneOperation kAllToAll = {
    "%a: tensor<4xf32>",
    "\"stablehlo.all_to_all\"(%a) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, ATTRIBUTES}>",
    "(tensor<4xf32>)", "tensor<4xf32>"};
constexpr OneOperation kConvolution = {
    "%a: tensor<1x4x4x1xf32>, %k: tensor<2x2x1x1xf32>",
    "\"stablehlo.convolution\"(%a, %k) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, "
    "0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, ATTRIBUTES}>",
    "(tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>)", "tensor<1x3x3x1xf32>"};
constexpr OneOperation kMixedConvolution = {
    "%a: tensor<1x4x4x1xi64>, %k: tensor<2x2x1x1xi32>",
    "\"stablehlo.convolution\"(%a, %k) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, "
    "0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64ATTRIBUTES}>",
    "(tensor<1x4x4x1xi64>, tensor<2x2x1x1xi32>)", "tensor<1x3x3x1xi64>"};
constexpr OneOperation kDot = {"%a: tensor<4x5xf32>, %b: tensor<5x3xf32>",
                               "\"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = "
                               "#stablehlo.dot<lhs_contracting_dimensions = [1], "
                               "rhs_contracting_dimensions = [0]>, ATTRIBUTES}>",
                               "(tensor<4x5xf32>, tensor<5x3xf32>)", "tensor<4x3xf32>"};
constexpr OneOperation kWindow = {
    "%a: tensor<4x4xf32>, %i: tensor<f32>",
    "\"stablehlo.reduce_window\"(%a, %i) <{window_dimensions = array<i64: 1, 1>, "
    "ATTRIBUTES}>" ADD_REGION,
    "(tensor<4x4xf32>, tensor<f32>)", "tensor<4x4xf32>"};
constexpr OneOperation kSelectAndScatter = {
    "%a: tensor<4xf32>, %b: tensor<4xf32>, %i: tensor<f32>",
    "\"stablehlo.select_and_scatter\"(%a, %b, %i) <{ATTRIBUTES}>" SELECT_REGION,
    "(tensor<4xf32>, tensor<4xf32>, tensor<f32>)", "tensor<4xf32>"};
constexpr OneOperation kExponential = {"%a: tensor<4xf32>", "\"stablehlo.exponential\"(%a) <{ATTRIBUTES}>",
                                       "(tensor<4xf32>)", "tensor<4xf32>"};
constexpr OneOperation kCall = {"%a: tensor<2x3xf32>",
                                "\"stablehlo.custom_call\"(%a) <{call_target_name = \"f\", ATTRIBUTES}>",
                                "(tensor<2x3xf32>)", "tensor<2x3xf32>"};
constexpr OneOperation kTurningCall = {
    "%a: tensor<2x3xf32>", "\"stablehlo.custom_call\"(%a) <{call_target_name = \"f\", ATTRIBUTES}>",
    "(tensor<2x3xf32>)", "tensor<3x2xf32>"};
constexpr OneOperation kAfterAll = {"%a: tensor<f32>", "\"stablehlo.after_all\"(%a) <{ATTRIBUTES}>",
                                    "(tensor<f32>)", "!stablehlo.token"};

#define HIGH_TEXT "#stablehlo<precision HIGH>"
#define ALGORITHM_TEXT(operand, sum, parts, products)                                                    \
  "algorithm = #stablehlo.dot_algorithm<lhs_precision_type = " operand ", rhs_precision_type = " operand \
  ", accumulation_type = " sum ", lhs_component_count = " parts                                          \
  ", rhs_component_count = 1, "                                                                          \
  "num_primitive_operations = " products ", allow_imprecise_accumulation = false>"
#define ALIAS_TEXT(result, operand, part)                                                     \
  "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [" result \
  "], operand_index = " operand ", operand_tuple_indices = [" part "]>]"
#define CHANNEL_TEXT(handle) ", channel_handle = #stablehlo.channel_handle<handle = " handle ", type = 1>"
#define ACCURACY_TEXT(tolerances, mode)                                                                     \
  "result_accuracy = #stablehlo.result_accuracy<" tolerances "mode = #stablehlo.result_accuracy_mode<" mode \
  ">>"

struct Row {
  const OneOperation& operation;
  const char *valid, *invalid, *error;
};
const Row kRows[] = {
    {kPermute, "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>",
     "source_target_pairs = dense<[[0, 1, 2], [1, 2, 0]]> : tensor<2x3xi64>", "expected rows of two numbers"},
    {kPermute, "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>",
     "source_target_pairs = dense<[0, 1, 1, 0]> : tensor<4xi64>", "expected rows of two numbers"},
    {kPermute, "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>",
     "source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>", "0"},
    {kConvolution, "padding = dense<0> : tensor<2x2xi64>", "padding = dense<0> : tensor<4x1xi64>",
     "expected rows of two numbers"},
    {kConvolution, "padding = dense<0> : tensor<2x2xi64>", "padding = dense<0> : tensor<1x2x2xi64>",
     "expected rows of two numbers"},
    {kConvolution, "precision_config = [" HIGH_TEXT ", " HIGH_TEXT "]",
     "precision_config = [" HIGH_TEXT ", " HIGH_TEXT ", " HIGH_TEXT "]",
     "has (3) words; expected one per operand (2)"},
    {kAfterAll, nullptr, "", "Operand 0 is f32[]; expected a token"},
    {kMixedConvolution, nullptr, "", "elements of types s64 and s32"},
    {kWindow, "padding = dense<0> : tensor<2x2xi64>", "padding = dense<0> : tensor<4x1xi64>",
     "expected rows of two numbers"},
    {kSelectAndScatter, "window_dimensions = array<i64: 1>", "window_strides = array<i64: 1>",
     "It has no attribute window_dimensions"},
    {kDot, "precision_config = [" HIGH_TEXT ", " HIGH_TEXT "]",
     "precision_config = [" HIGH_TEXT ", " HIGH_TEXT ", " HIGH_TEXT "]",
     "has (3) words; expected one per operand (2)"},
    {kDot, ALGORITHM_TEXT("tf32", "f32", "1", "1"),
     "precision_config = [" HIGH_TEXT ", " HIGH_TEXT "], " ALGORITHM_TEXT("tf32", "f32", "1", "1"),
     "It has an algorithm and the precision HIGH"},
    {kDot, ALGORITHM_TEXT("tf32", "f32", "1", "1"), ALGORITHM_TEXT("tf32", "f32", "0", "1"),
     "The lhs_component_count of its algorithm is (0)"},
    {kDot, ALGORITHM_TEXT("bf16", "f32", "1", "1"), ALGORITHM_TEXT("bf16", "f32", "1", "0"),
     "The num_primitive_operations of its algorithm is (0)"},
    {kDot, ALGORITHM_TEXT("bf16", "f32", "1", "3"), ALGORITHM_TEXT("bf16", "f32", "3", "6"),
     "The lhs_component_count of its algorithm is (3)"},
    {kDot, ALGORITHM_TEXT("f64", "f64", "1", "1"), ALGORITHM_TEXT("f32", "f64", "1", "1"),
     "HLO does not have its algorithm"},
    {kAllReduce, "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
     "replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>", "participant (1) is missing"},
    {kAllReduce, "replica_groups = dense<[[0, 1, -1], [2, 3, -1]]> : tensor<2x3xi64>",
     "replica_groups = dense<[[0, 1], [1, -1]]> : tensor<2x2xi64>", "participant (1) twice"},
    {kAllReduce, "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
     "replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>", "have the participant (-2)"},
    {kAllReduce,
     "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids" CHANNEL_TEXT("1"),
     "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids" CHANNEL_TEXT("0"),
     "the channel_id (0); expected a positive"},
    {kAllReduce,
     "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids" CHANNEL_TEXT("1"),
     "replica_groups = dense<> : tensor<0x0xi64>, use_global_device_ids" CHANNEL_TEXT("1"),
     "have no participants"},
    {kReduceScatter, "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
     "replica_groups = dense<[[0, -1]]> : tensor<1x2xi64>", "have the participant (-1)"},
    {kReduceScatter, "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
     "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids", "the channel_id (0)"},
    {kAllGather, "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
     "replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>", "participant (1) is missing"},
    {kAllToAll, "split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
     "split_count = 4 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>",
     "have (2) participants each"},
    {kExponential, ACCURACY_TEXT("atol = 1.0e-5, rtol = 0.0, ulps = 1, ", "TOLERANCE"),
     ACCURACY_TEXT("atol = -1.0e-5, rtol = 0.0, ulps = 1, ", "TOLERANCE"),
     "The atol of its result_accuracy is (-1e-05)"},
    {kExponential, ACCURACY_TEXT("", "HIGHEST"), ACCURACY_TEXT("ulps = 1, ", "HIGHEST"),
     "has the ulps (1) without the mode TOLERANCE"},
    {kCall,
     "operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : "
     "tensor<2xindex>]",
     "operand_layouts = [dense<[1, 0]> : tensor<2xindex>]", "It has only operand_layouts"},
    {kCall,
     "operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : "
     "tensor<2xindex>]",
     "operand_layouts = [dense<[0, 0]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : "
     "tensor<2xindex>]",
     "does not order the dimensions of f32[2,3]"},
    {kCall,
     "operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : "
     "tensor<2xindex>]",
     "operand_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>], result_layouts = "
     "[dense<[0, 1]> : tensor<2xindex>]",
     "Its operand_layouts are (2); expected one per value (1)"},
    {kCall, ALIAS_TEXT("", "0", ""), ALIAS_TEXT("", "1", ""), "name operand (1) of (1)"},
    {kCall, ALIAS_TEXT("", "0", ""), ALIAS_TEXT("0", "0", ""), "name a part that does not exist"},
    {kTurningCall, nullptr, ALIAS_TEXT("", "0", ""), "have f32[2,3] for a result of f32[3,2]"},
};

TEST(Constraints, WhatStablehloRefusesIsRefusedWithItsRule) {
  for (const Row& row : kRows) {
    if (row.valid != nullptr) {
      EXPECT_EQ(BrokenRule(ProgramOf(row.operation, row.valid)), "no error");
    }
    EXPECT_THAT(BrokenRule(ProgramOf(row.operation, row.invalid)), HasSubstr(row.error)) << row.invalid;
  }
}

// The operands state the sizes, and the result's type has others.
TEST(Constraints, SizesMustBeThoseOfTheResult) {
  const auto program = [](const char* operation, const char* sizes, const char* operands,
                          const char* result) {
    return absl::StrCat("func.func @main(%a: tensor<4xf32>, %b: tensor<f32>) -> ", result,
                        " {\n  %s = stablehlo.constant ", sizes, "\n  %0 = \"stablehlo.", operation, "\"(",
                        operands, " -> ", result, "\n  return %0 : ", result, "\n}\n");
  };
  const char* const reshape = "%a, %s) : (tensor<4xf32>, tensor<2xi64>)";
  EXPECT_EQ(BrokenRule(program("dynamic_reshape", "dense<2> : tensor<2xi64>", reshape, "tensor<2x2xf32>")),
            "no error");
  EXPECT_THAT(
      BrokenRule(program("dynamic_reshape", "dense<[4, 1]> : tensor<2xi64>", reshape, "tensor<2x2xf32>")),
      HasSubstr("Operand 1 states the sizes [4, 1]; the stated type is f32[2,2]"));
  const char* const broadcast =
      "%a, %s) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>, tensor<2xi64>)";
  EXPECT_EQ(BrokenRule(program("dynamic_broadcast_in_dim", "dense<[2, 4]> : tensor<2xi64>", broadcast,
                               "tensor<2x4xf32>")),
            "no error");
  EXPECT_THAT(BrokenRule(program("dynamic_broadcast_in_dim", "dense<[3, 4]> : tensor<2xi64>", broadcast,
                                 "tensor<2x4xf32>")),
              HasSubstr("states the sizes [3, 4]"));
  const char* const hints =
      "%a, %s) <{broadcast_dimensions = array<i64: 1>, known_expanding_dimensions = array<i64: 7>}> : "
      "(tensor<4xf32>, tensor<2xi64>)";
  EXPECT_THAT(BrokenRule(program("dynamic_broadcast_in_dim", "dense<[2, 4]> : tensor<2xi64>", hints,
                                 "tensor<2x4xf32>")),
              HasSubstr("known_expanding_dimensions has (7)"));
  // The rule is also that of dimensions of size 1.
  const char* const twice =
      "%u, %s) <{broadcast_dimensions = array<i64: 1, 1>}> : (tensor<1x4xf32>, tensor<2xi64>)";
  EXPECT_THAT(
      BrokenRule(absl::StrReplaceAll(
          program("dynamic_broadcast_in_dim", "dense<[2, 4]> : tensor<2xi64>", twice, "tensor<2x4xf32>"),
          {{"%a: tensor<4xf32>", "%u: tensor<1x4xf32>"}})),
      HasSubstr("broadcast_dimensions have (1) twice"));
  const char* const iota = "%s) <{iota_dimension = 0 : i64}> : (tensor<1xi64>)";
  EXPECT_THAT(BrokenRule(program("dynamic_iota", "dense<4> : tensor<1xi64>", iota, "tensor<5xf32>")),
              HasSubstr("states the sizes [4]"));
  EXPECT_THAT(BrokenRule(program("dynamic_iota", "dense<-4> : tensor<1xi64>", iota, "tensor<?xf32>")),
              HasSubstr("states the sizes [-4]"));
}

TEST(Constraints, RandomNumbersHaveTheStatedSizesAndType) {
  const auto program = [](const char* type, const char* sizes, const char* shape, const char* distribution) {
    return absl::StrCat(
        "func.func @main(%a: tensor<", type, ">, %b: tensor<", type, ">) -> tensor<2x3xf32> {\n",
        "  %s = stablehlo.constant dense<", sizes, "> : tensor<", shape, "xi64>\n",
        "  %0 = \"stablehlo.rng\"(%a, %b, %s) <{rng_distribution = #stablehlo<rng_distribution ",
        distribution, ">}> : (tensor<", type, ">, tensor<", type, ">, tensor<", shape,
        "xi64>) -> tensor<2x3xf32>\n  return %0 : tensor<2x3xf32>\n}\n");
  };
  EXPECT_EQ(BrokenRule(program("f32", "[2, 3]", "2", "NORMAL")), "no error");
  EXPECT_THAT(BrokenRule(program("f32", "[2, 4]", "2", "UNIFORM")),
              HasSubstr("other sizes than the result has"));
  EXPECT_THAT(BrokenRule(program("f64", "[2, 3]", "2", "UNIFORM")),
              HasSubstr("Operand 0 is f64[]; expected a scalar of the result's type f32"));
  EXPECT_THAT(BrokenRule(program("1xf32", "[2, 3]", "2", "UNIFORM")), HasSubstr("Operand 0 is f32[1]"));
  EXPECT_THAT(BrokenRule(program("f32", "[[2, 3]]", "1x2", "UNIFORM")), HasSubstr("Operand 2 is s64[1,2]"));
}

#undef ADD_REGION
#undef SELECT_REGION
#undef HIGH_TEXT
#undef ALGORITHM_TEXT
#undef ALIAS_TEXT
#undef CHANNEL_TEXT
#undef ACCURACY_TEXT

// The conversion reads the attribute rng_distribution, which may be missing.
TEST(Constraints, AnAttributeThatIsMissingIsNamed) {
  const std::string rng =
      "func.func public @main(%a: tensor<f32>, %b: tensor<f32>, %s: tensor<1xi64>) -> tensor<4xf32> {\n"
      "  %0 = \"stablehlo.rng\"(%a, %b, %s) : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>\n"
      "  return %0 : tensor<4xf32>\n}\n";
  EXPECT_THAT(BrokenRule(rng), HasSubstr("rng_distribution"));
}

}  // namespace
}  // namespace hlod::stablehlo::constraints
