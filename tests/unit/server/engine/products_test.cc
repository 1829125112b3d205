// Matrix products by each library, whatever this processor's table chooses.
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/hlo/literal.h"
#include "gtest/gtest.h"
#include "server/engine/contraction/measure_products.h"
#include "server/engine/contraction/products.h"
#include "tests/unit/server/engine/plan_testing.h"
#include "tests/unit/server/engine/step_testing.h"

namespace hlod::engine {
namespace {

using hlo::Literal;
using hlo::Shape;

using enum ProductLibrary;

// Runs each test with one library wherever that computes the product.
class Products : public ::testing::TestWithParam<ProductLibrary> {
 protected:
  static void Expect(const std::string& text, StepTestOptions options = {}) {
    options.library = GetParam();
    ExpectStep(text, options);
  }
};
INSTANTIATE_TEST_SUITE_P(, Products, ::testing::Values(kOneDnn, kPanels, kLoops),
                         [](const auto& test) { return std::string(Name(test.param)); });

std::string Product(const std::string& lhs, const std::string& rhs, const std::string& out,
                    const std::string& numbers = "lhs_contracting_dims={1}, rhs_contracting_dims={0}") {
  return "ENTRY e {\n p0 = " + lhs + " parameter(0)\n p1 = " + rhs + " parameter(1)\n ROOT r = " + out +
         " dot(p0, p1), " + numbers + "\n}\n";
}
std::string Of(const std::string& type, int rows, int columns) {
  return type + "[" + std::to_string(rows) + "," + std::to_string(columns) + "]";
}

TEST_P(Products, OfSizesAroundTilesAndBlocks) {
  for (const std::string type : {"f32", "f64", "bf16", "f16"}) {
    const bool narrow = type == "bf16" || type == "f16";
    for (const auto& [m, n, k] : std::vector<std::array<int, 3>>{{1, 1, 700},
                                                                 {1, 33, 17},
                                                                 {7, 1, 40},
                                                                 {1, 50, 300},
                                                                 {6, 16, 8},
                                                                 {13, 15, 9},
                                                                 {14, 32, 256},
                                                                 {15, 33, 257},
                                                                 {29, 70, 31},
                                                                 {230, 45, 520},
                                                                 {40, 530, 23}}) {
      const StepTestOptions options{.rtol = narrow ? 2e-2 : 1e-5, .atol = narrow ? 0.3 : 2e-3};
      Expect(Product(Of(type, m, k), Of(type, k, n), Of(type, m, n)), options);
      Expect(Product(Of(type, k, m), Of(type, n, k), Of(type, m, n),
                     "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
             options);
    }
  }
}

TEST_P(Products, OfDifferentTypes) {
  const StepTestOptions options{.rtol = 1e-4, .atol = 1e-2};
  Expect(Product("bf16[20,40]", "f32[40,30]", "f32[20,30]"), options);
  Expect(Product("f16[20,40]", "bf16[40,30]", "f32[20,30]"), options);
  Expect(Product("f8e5m2[20,40]", "f16[40,30]", "f32[20,30]"), options);
  Expect(Product("f32[20,40]", "f64[40,30]", "f64[20,30]"), options);
}

TEST_P(Products, OfBatchesWithStrides) {
  for (const std::string type : {"f32", "f64", "bf16"}) {
    const std::string out = type == "f64" ? "f64" : "f32";
    const StepTestOptions options{.rtol = 1e-4, .atol = 2e-2};
    Expect(Product(type + "[37,8,8]", type + "[37,8,8]", out + "[37,8,8]",
                   "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
                   "rhs_contracting_dims={1}"),
           options);
    Expect(Product(type + "[3,19,4,24]", type + "[3,41,4,24]", out + "[3,4,19,41]",
                   "lhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_batch_dims={0,2}, "
                   "rhs_contracting_dims={3}"),
           options);
    Expect(Product(type + "[5,11,13]", type + "[13,11,7]", out + "[11,5,7]",
                   "lhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_batch_dims={1}, "
                   "rhs_contracting_dims={0}"),
           options);
  }
}

TEST_P(Products, OfNothingAreZero) {
  for (const std::string type : {"f32", "bf16", "f64"}) {
    Expect(Product(type + "[30,0]", type + "[0,40]", type + "[30,40]"));
    Expect(Product(type + "[0,30]", type + "[30,40]", type + "[0,40]"));
  }
}

// Each row of lhs has one special value and otherwise zeros, and rhs is all ones but for one zero column, so
// that the sums follow from IEEE 754: NaN and infinities spread, and infinity times zero is NaN. Subnormal
// numbers may count as zeros, as XLA has them.
TEST_P(Products, KeepInfinitiesAndNans) {
  constexpr int kSize = 33;
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const std::vector<float> specials = {infinity, -infinity, nan, -0.0f, 1e-40f, 3e38f};
  Literal lhs(Shape::Array(hlo::kF32, {static_cast<int64_t>(specials.size()), kSize})),
      rhs(Shape::Array(hlo::kF32, {kSize, kSize}));
  for (size_t i = 0; i < specials.size(); ++i) lhs.data<float>()[i * kSize + 5 * i] = specials[i];
  for (int i = 0; i < kSize * kSize; ++i) rhs.data<float>()[i] = i % kSize == kSize - 1 ? 0.0f : 1.0f;
  const std::vector<Literal> result =
      RunStepText(Product(Of("f32", static_cast<int>(specials.size()), kSize), Of("f32", kSize, kSize),
                          Of("f32", static_cast<int>(specials.size()), kSize)),
                  {lhs, rhs}, /*threads=*/2, GetParam());
  ASSERT_EQ(result.size(), 1u);
  for (size_t i = 0; i < specials.size(); ++i) {
    for (int c = 0; c < kSize; ++c) {
      const float got = result[0].data<float>()[i * kSize + c];
      const float expected = c < kSize - 1 ? specials[i] : specials[i] * 0.0f;
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got)) << specials[i] << " " << c;
      } else if (std::fpclassify(expected) == FP_SUBNORMAL) {
        EXPECT_TRUE(got == 0 || got == expected) << got << " " << c;
      } else {
        EXPECT_EQ(got, expected) << specials[i] << " " << c;
      }
    }
  }
}

// 1 + 2^-9 is halfway between two bf16, and 1 + 2^-12 less than halfway between two f16; both have to be
// rounded once, from the f32 sum.
TEST_P(Products, RoundOnceToNarrowTypes) {
  const auto sums_of = [](const std::string& type, float small) {
    Literal lhs(Shape::Array(hlo::kF32, {20, 24})), rhs(Shape::Array(hlo::kF32, {24, 40}));
    for (int i = 0; i < 20; ++i) {
      lhs.data<float>()[i * 24] = 1;
      for (int k = 1; k < 5; ++k) lhs.data<float>()[i * 24 + k] = small;
    }
    for (int i = 0; i < 24 * 40; ++i) rhs.data<float>()[i] = 1;
    return RunStepText(Product("f32[20,24]", "f32[24,40]", type + "[20,40]"), {lhs, rhs}, 2, GetParam());
  };
  // Four times 2^-9 are 2^-7, the distance of bf16 numbers at 1; four times 2^-12 that of f16.
  const std::vector<Literal> bf16 = sums_of("bf16", 1.0f / 512), f16 = sums_of("f16", 1.0f / 4096);
  ASSERT_EQ(bf16.size(), 1u);
  ASSERT_EQ(f16.size(), 1u);
  for (const hlo::BF16 value : bf16[0].data<hlo::BF16>())
    EXPECT_EQ(static_cast<float>(value), 1 + 1.0f / 128);
  for (const hlo::F16 value : f16[0].data<hlo::F16>()) EXPECT_EQ(static_cast<float>(value), 1 + 1.0f / 1024);
}

TEST(ProductPanels, HaveTheSameBitsWithAnyTeam) {
  for (const std::string type : {"f32", "bf16", "f64"}) {
    const hlo::PrimitiveType element = type == "f32" ? hlo::kF32 : type == "f64" ? hlo::kF64 : hlo::kBF16;
    const std::vector<Literal> arguments = {Sample(Shape::Array(element, {157, 610}), 1),
                                            Sample(Shape::Array(element, {610, 149}), 2)};
    const std::string text = Product(Of(type, 157, 610), Of(type, 610, 149), Of(type, 157, 149));
    const std::vector<Literal> expected = RunStepText(text, arguments, 1, kPanels);
    for (const int threads : {2, 3, 16})
      EXPECT_EQ(RunStepText(text, arguments, threads, kPanels), expected) << threads;
  }
}

TEST(ProductLibraries, AreUsedAsAsked) {
  for (const auto& [library, text] : {std::pair(kPanels, "[panels]"), std::pair(kOneDnn, "[oneDNN ")}) {
    ExpectStep(Product("f32[80,80]", "f32[80,80]", "f32[80,80]"),
               {.rtol = 1e-4, .atol = 1e-2, .describe = text, .library = library});
  }
}

// The speeds are made up.
TEST(ProductTable, MarksTheChoicesAndCountsTheSlowOnes) {
  const std::vector<ProductSpeed> products = {
      {hlo::kF32, ProductShape::kLarge, 1, 512, 512, 512, {{kOneDnn, 200e9}, {kPanels, 210e9}}, kOneDnn},
      {hlo::kBF16, ProductShape::kVector, 1, 1, 64, 64, {{kOneDnn, 20e9}, {kPanels, 10e9}}, kPanels},
      {hlo::kF64, ProductShape::kSmall, 8, 4, 4, 4, {{kPanels, 1.25e9}}, kPanels},
  };
  EXPECT_EQ(ProductTable(products),
            "type  shape     batch x m x n x k       onednn     panels   (GFLOP/s; * is the choice)\n"
            "f32   large     1x512x512x512            200.0*     210.0 \n"
            "bf16  vector    1x1x64x64                 20.0       10.0*\n"
            "f64   small     8x4x4x4                      -        1.2*\n"
            "1 of 3 products would be more than a tenth faster by the other library.\n");
}

TEST(ProductSpeeds, AreMeasuredForEveryTypeAndShape) {
  std::map<hlo::PrimitiveType, std::set<ProductShape>> shapes;
  for (const ProductSpeed& product : MeasureProducts(1)) {
    shapes[product.type].insert(product.shape);
    EXPECT_FALSE(product.speeds.empty());
    for (const ProductSpeed::Speed& speed : product.speeds) EXPECT_GT(speed.flops, 0);
  }
  for (const hlo::PrimitiveType type : {hlo::kF32, hlo::kBF16, hlo::kF16, hlo::kF64})
    EXPECT_EQ(shapes[type].size(), 4u) << hlo::Name(type);
}

}  // namespace
}  // namespace hlod::engine
