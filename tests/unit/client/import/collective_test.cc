// Collectives in StableHLO: errors name the missing or wrong attribute. The conversion of valid ones is
// compared with XLA in tests/conformance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "client/import/import.h"
#include "common/base/text/strings.h"
#include "common/hlo/collectives/replica_groups.h"

namespace hlod {
namespace {

using ::testing::HasSubstr;

// Reads a program of one operation over f32[4,6].
absl::StatusOr<std::unique_ptr<hlo::Module>> Read(std::string_view operation, std::string_view results) {
  const std::string program = absl::StrCat(
      "module @m attributes {mhlo.num_partitions = 2 : i32} {\n  func.func @main(%arg0: tensor<4x6xf32>) -> ",
      ToAbsl(results), " {\n    %0 = ", ToAbsl(operation), " : (tensor<4x6xf32>) -> ", ToAbsl(results),
      "\n    return %0 : ", ToAbsl(results), "\n  }\n}\n");
  return ReadModule(program, {.for_execution = true});
}
std::string ErrorOf(std::string_view operation, std::string_view results) {
  return std::string(Read(operation, results).status().message());
}

TEST(ConvertCollective, RowsOfGroupsEndInNegativeNumbers) {
  const auto module = Read(
      "\"stablehlo.all_reduce\"(%arg0) <{replica_groups = dense<[[0, 2, -1], [3, 1, -1]]> : "
      "tensor<2x3xi64>}> ({^bb0(%x: tensor<f32>, %y: tensor<f32>): %s = stablehlo.add %x, %y : "
      "tensor<f32>\n"
      "stablehlo.return %s : tensor<f32>})",
      "tensor<4x6xf32>");
  ASSERT_TRUE(module.ok()) << module.status();
  const hlo::Instruction root = (*module)->entry().root();
  ASSERT_EQ(root.opcode(), hlo::kAllReduce);
  EXPECT_EQ(ListGroups(root.attributes<hlo::CollectiveAttributes>().groups),
            (std::vector<hlo::Dims>{{0, 2}, {3, 1}}));
  // The module's partition count is that of the program.
  EXPECT_EQ((*module)->config.partition_count, 2);
}

TEST(ConvertCollective, PiecesThatGoAlongAnotherDimensionAreMoved) {
  const auto module = Read(
      "\"stablehlo.all_to_all\"(%arg0) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : "
      "tensor<1x2xi64>,"
      " split_count = 2 : i64, split_dimension = 1 : i64}>",
      "tensor<8x3xf32>");
  ASSERT_TRUE(module.ok()) << module.status();
  // After the exchange two pieces of 4x3 are side by side; one must be moved below the other.
  const hlo::Instruction root = (*module)->entry().root();
  ASSERT_EQ(root.opcode(), hlo::kReshape);
  const hlo::Instruction order = root.operand(0);
  ASSERT_EQ(order.opcode(), hlo::kTranspose);
  EXPECT_EQ(order.attributes<hlo::DimensionsAttributes>().dimensions, (hlo::Dims{1, 0, 2}));
  EXPECT_EQ(order.operand(0).shape().dims, (hlo::Dims{4, 2, 3}));
  EXPECT_EQ(order.operand(0).operand(0).opcode(), hlo::kAllToAll);
}

TEST(ConvertCollective, ErrorsNameWhatIsWrong) {
  EXPECT_THAT(ErrorOf("\"stablehlo.all_gather\"(%arg0) <{all_gather_dim = 0 : i64}>", "tensor<8x6xf32>"),
              HasSubstr("It has no attribute replica_groups"));
  EXPECT_THAT(
      ErrorOf("\"stablehlo.all_gather\"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>",
              "tensor<8x6xf32>"),
      HasSubstr("It has no attribute all_gather_dim"));
  EXPECT_THAT(
      ErrorOf(
          "\"stablehlo.all_gather\"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2]]> "
          ": tensor<1x3xi64>}>",
          "tensor<8x6xf32>"),
      HasSubstr("f32[12,6]"));
  const auto exchange = [](std::string_view split, std::string_view count) {
    return ErrorOf(
        absl::StrCat("\"stablehlo.all_to_all\"(%arg0) <{concat_dimension = 0 : i64, replica_groups = "
                     "dense<[[0, 1]]> : tensor<1x2xi64>, split_count = ",
                     ToAbsl(count), " : i64, split_dimension = ", ToAbsl(split), " : i64}>"),
        "tensor<8x3xf32>");
  };
  EXPECT_THAT(exchange("2", "2"),
              HasSubstr("split_dimension (2) and concat_dimension (0) must be below the operand's rank (2)"));
  EXPECT_THAT(exchange("-1", "2"), HasSubstr("split_dimension (-1)"));
  EXPECT_THAT(exchange("1", "4"),
              HasSubstr("split_count is (4), but its replica_groups have (2) participants each"));
  EXPECT_THAT(exchange("1", "0"), HasSubstr("split_count is (0)"));
  EXPECT_THAT(ErrorOf("\"stablehlo.collective_broadcast\"(%arg0) <{has_dynamic_root = true, replica_groups = "
                      "dense<[[0, 1]]> : tensor<1x2xi64>}>",
                      "tensor<4x6xf32>"),
              HasSubstr("has_dynamic_root"));
}

}  // namespace
}  // namespace hlod
