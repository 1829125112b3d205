// StableHLO to HLO: dynamic sizes that are known, and those that are not. Numbers are computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/client/import/convert.h"

namespace hlod::stablehlo {
namespace {

using hlo::Literal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ConvertSizes, SizesThatAreKnownRefineDynamicOperations) {
  const std::string text = R"(
func.func @main(%x: tensor<?x2xf32>) -> (tensor<?xf32>, tensor<?x3xi32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %m = stablehlo.multiply %n, %two : tensor<i32>
  %s = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %y = stablehlo.dynamic_reshape %x, %s : (tensor<?x2xf32>, tensor<1xi32>) -> tensor<?xf32>
  %z = call @filled(%n) : (tensor<i32>) -> tensor<?x3xi32>
  return %y, %z : tensor<?xf32>, tensor<?x3xi32>
}
func.func private @filled(%n: tensor<i32>) -> tensor<?x3xi32> {
  %three = stablehlo.constant dense<3> : tensor<1xi32>
  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %sizes = stablehlo.concatenate %s, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %z = stablehlo.dynamic_broadcast_in_dim %n, %sizes, dims = [] : (tensor<i32>, tensor<2xi32>) -> tensor<?x3xi32>
  return %z : tensor<?x3xi32>
})";
  EXPECT_THAT(ErrorText(text), HasSubstr("func.func @main: Argument 0 is f32[?,2]: its size is not known"));
  ArgumentSizes sizes = {{0, {2, 2}}};
  const Literal result = RunText(text, {Literal::Array<float>({2, 2}, {1, 2, 3, 4})}, sizes);
  EXPECT_THAT(Elements<float>(result.elements()[0]), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Elements<int32_t>(result.elements()[1]), ElementsAre(2, 2, 2, 2, 2, 2));
  sizes = {{0, {2, 3}}};
  EXPECT_THAT(ErrorText(text, sizes),
              HasSubstr("Argument 0 of the function @main is f32[?,2]; the call has f32[2,3]"));
}

// A step beyond the last number of 64 bits once led to what lies before the array.
TEST(ConvertSizes, ASliceOfSizesMayHaveAnyStep) {
  const std::string text = R"(
func.func @main(%x: tensor<f32>) -> tensor<?xf32> {
  %c = stablehlo.constant dense<[3, 4, 5]> : tensor<3xi64>
  %s = stablehlo.slice %c [1:3:9223372036854775807] : (tensor<3xi64>) -> tensor<1xi64>
  %y = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  return %y : tensor<?xf32>
})";
  EXPECT_THAT(Elements<float>(RunText(text, {Literal::Scalar<float>(2)})), ElementsAre(2, 2, 2, 2));
}

// JAX divides a size like this: in a function of two results, by signs and remainders.
TEST(ConvertSizes, SizesAreKnownThroughCallsAndArithmetic) {
  const std::string text = R"(
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %half:2 = call @divmod(%n, %two) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reshape %half#0 : (tensor<i32>) -> tensor<1xi32>
  %start = stablehlo.reshape %half#1 : (tensor<i32>) -> tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %limit = stablehlo.add %start, %m : tensor<1xi32>
  %part = stablehlo.real_dynamic_slice %x, %start, %limit, %one : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %before = stablehlo.subtract %m, %one : tensor<1xi32>
  %after = stablehlo.subtract %one, %one : tensor<1xi32>
  %low = stablehlo.reshape %before : (tensor<1xi32>) -> tensor<1x1xi32>
  %high = stablehlo.reshape %after : (tensor<1xi32>) -> tensor<1x1xi32>
  %padding = stablehlo.concatenate %low, %high, dim = 1 : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x2xi32>
  %sum = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%part, %zero, %m, %one, %one, %one, %padding) {api_version = 2 : i32, called_computations = [@add]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
  return %sum : tensor<?xf32>
}
func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.add %a, %b : tensor<f32>
  return %c : tensor<f32>
}
func.func private @divmod(%a: tensor<i32>, %b: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %q = stablehlo.divide %a, %b : tensor<i32>
  %r = stablehlo.remainder %a, %b : tensor<i32>
  %sa = stablehlo.sign %a : tensor<i32>
  %sb = stablehlo.sign %b : tensor<i32>
  %differ = stablehlo.compare NE, %sa, %sb, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %less = stablehlo.subtract %q, %one : tensor<i32>
  %floor = stablehlo.select %differ, %less, %q : tensor<i1>, tensor<i32>
  return %floor, %r : tensor<i32>, tensor<i32>
})";
  // Sums elements 1 to 3 of the numbers 1 to 7.
  const ArgumentSizes sizes = {{0, {7}}};
  const Literal result = RunText(text, {Literal::Vector<float>({1, 2, 3, 4, 5, 6, 7})}, sizes);
  EXPECT_THAT(Elements<float>(result), ElementsAre(2, 5, 9));
}

// By hand: -8 as u32, shifted with its top bit, is -4.
TEST(ConvertSizes, ShiftsOfSizesKeepTheTopBitOfUnsignedTypes) {
  const Literal result = RunText(R"(
func.func @main() -> tensor<?xf32> {
  %one = stablehlo.constant dense<1> : tensor<1xui32>
  %big = stablehlo.constant dense<4294967288> : tensor<1xui32>
  %less = stablehlo.shift_right_arithmetic %big, %one : tensor<1xui32>
  %size = stablehlo.negate %less : tensor<1xui32>
  %z = stablehlo.constant dense<2.0> : tensor<f32>
  %y = stablehlo.dynamic_broadcast_in_dim %z, %size, dims = [] : (tensor<f32>, tensor<1xui32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
})",
                                 {});
  EXPECT_THAT(Elements<float>(result), ElementsAre(2, 2, 2, 2));
}

TEST(ConvertSizes, OperandsThatStateSizesLeaveNoneDynamic) {
  const auto module = Converted(R"(
func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {
  %s = stablehlo.constant dense<4> : tensor<1xi32>
  %y = stablehlo.custom_call @mine(%x, %s) {indices_of_shape_operands = dense<[1]> : tensor<1xi64>} : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
})");
  ASSERT_TRUE(module.ok()) << module.status();
  const hlo::Instruction root = (*module)->entry().root();
  EXPECT_EQ(hlo::ToStringNoLayout(root.shape()), "f32[4]");
  EXPECT_EQ(root.operand_count(), 1u);
}

TEST(ConvertSizes, SizesThatDependOnValuesAreRefused) {
  const std::string text = R"(
func.func @main(%x: tensor<4xf32>, %s: tensor<1xi32>) -> tensor<?xf32> {
  %y = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
})";
  EXPECT_THAT(ErrorText(text), StartsWith("3:8: stablehlo.dynamic_reshape: Operand 1 states sizes that are "
                                          "known only when the program runs"));
}

TEST(ConvertSizes, ShapeAssertionsAreChecked) {
  const std::string text = R"(
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %ok = stablehlo.compare GE, %n, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok, %n) {error_message = "b is {0}; it is at least 4", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return %x : tensor<?xf32>
})";
  ArgumentSizes sizes = {{0, {4}}};
  EXPECT_TRUE(Converted(text, sizes).ok());
  sizes = {{0, {3}}};
  EXPECT_THAT(ErrorText(text, sizes), HasSubstr("b is 3; it is at least 4"));
}

}  // namespace
}  // namespace hlod::stablehlo
