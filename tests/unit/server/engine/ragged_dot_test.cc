// ragged-dot as a step: every mode, order of dimensions and type, with groups of various sizes, compared with
// the evaluator.
#include <string>
#include <vector>

#include "common/hlo/literal.h"
#include "gtest/gtest.h"
#include "server/engine/contraction/onednn.h"
#include "tests/unit/server/engine/step_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;

std::string RaggedDot(const std::string& lhs, const std::string& rhs, const std::string& sizes,
                      const std::string& out, const std::string& numbers) {
  return "ENTRY e {\n p0 = " + lhs + " parameter(0)\n p1 = " + rhs + " parameter(1)\n p2 = " + sizes +
         " parameter(2)\n ROOT r = " + out + " ragged-dot(p0, p1, p2), " + numbers + "\n}\n";
}

StepTestOptions With(Literal sizes, double tolerance = 1e-5) {
  StepTestOptions options{.rtol = tolerance, .atol = 10 * tolerance};
  options.arguments.emplace(2, std::move(sizes));
  return options;
}

const char kRows[] =
    "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}";
const char kSums[] = "lhs_contracting_dims={0}, rhs_contracting_dims={0}, lhs_ragged_dims={0}";

TEST(RaggedDot, RowsByGroups) {
  const std::vector<Literal> sizes = {
      Literal::Vector<int32_t>({4, 0, 3}), Literal::Vector<int32_t>({9, 9, 9}),
      Literal::Vector<int32_t>({0, 0, 0}), Literal::Vector<int32_t>({2, -4, 7})};
  for (const Literal& size : sizes) {
    for (const std::string type : {"f32", "f64", "s32", "u8", "c64"})
      ExpectStep(RaggedDot(type + "[9,4]", type + "[3,4,5]", "s32[3]", type + "[9,5]", kRows), With(size));
    for (const std::string type : {"bf16", "f16", "f8e4m3fn"})
      ExpectStep(RaggedDot(type + "[9,4]", type + "[3,4,5]", "s32[3]", "f32[9,5]", kRows), With(size));
    ExpectStep(RaggedDot("bf16[9,4]", "bf16[3,4,5]", "s32[3]", "bf16[9,5]", kRows), With(size, 2e-2));
  }
}

TEST(RaggedDot, SumsByGroups) {
  for (const Literal& size : {Literal::Vector<int32_t>({4, 0, 3}), Literal::Vector<int32_t>({9, 9, 9})}) {
    for (const std::string type : {"f32", "s32", "c64"})
      ExpectStep(RaggedDot(type + "[9,4]", type + "[9,6]", "s32[3]", type + "[3,4,6]", kSums), With(size));
  }
}

TEST(RaggedDot, DimensionsInAnyOrder) {
  // Batch and group dimensions are in the middle, the ragged dimension is last, and each batch has its own
  // group sizes.
  const Literal sizes = Literal::Array<int64_t>({2, 3}, {2, 5, 9, 1, 1, 1});
  ExpectStep(
      RaggedDot("f32[2,4,7]", "f32[5,2,3,4]", "s64[2,3]", "f32[2,7,5]",
                "lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={1}, rhs_contracting_dims={3}, "
                "lhs_ragged_dims={2}, rhs_group_dims={2}"),
      With(sizes));
  // There are dimensions on both sides of the ragged dimension.
  ExpectStep(
      RaggedDot(
          "f32[2,7,3,4]", "f32[4,5,3]", "s64[2,3]", "f32[2,7,3,5]",
          "lhs_contracting_dims={3}, rhs_contracting_dims={0}, lhs_ragged_dims={1}, rhs_group_dims={2}"),
      With(sizes));
  // There are two contracting dimensions, of which the second is ragged and has its own group sizes for each
  // index of the first.
  ExpectStep(RaggedDot("f32[2,7,4]", "f32[7,6,2]", "s64[2,3]", "f32[3,4,6]",
                       "lhs_contracting_dims={0,1}, rhs_contracting_dims={2,0}, lhs_ragged_dims={1}"),
             With(sizes));
  ExpectStep(RaggedDot("f32[7,4,2]", "f32[7,2,6]", "s64[3]", "f32[3,4,6]",
                       "lhs_contracting_dims={0,2}, rhs_contracting_dims={0,1}, lhs_ragged_dims={0}"),
             With(Literal::Vector<int64_t>({2, 3, 1})));
}

TEST(RaggedDot, LargeGroupsAreProductsOfTheLibrary) {
  StepTestOptions options = With(Literal::Vector<int32_t>({601, 130, 37, 0, 9}), 1e-4);
  options.describe = "ragged-dot";
  ExpectStep(RaggedDot("f32[800,64]", "f32[5,64,72]", "s32[5]", "f32[800,72]", kRows), options);
  ExpectStep(RaggedDot("bf16[800,64]", "bf16[5,64,72]", "s32[5]", "f32[800,72]", kRows), options);
}

TEST(RaggedDot, EmptyOnes) {
  ExpectStep(RaggedDot("f32[0,4]", "f32[3,4,5]", "s32[3]", "f32[0,5]", kRows),
             With(Literal::Vector<int32_t>({1, 2, 3})));
  ExpectStep(RaggedDot("f32[9,0]", "f32[3,0,5]", "s32[3]", "f32[9,5]", kRows),
             With(Literal::Vector<int32_t>({1, 2, 3})));
  ExpectStep(RaggedDot("f32[0,4]", "f32[0,6]", "s32[3]", "f32[3,4,6]", kSums),
             With(Literal::Vector<int32_t>({1, 2, 3})));
}

}  // namespace
}  // namespace hlod::engine
