// The comparison that every conformance test trusts finds differences.
#include "tests/conformance/case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hlod::testing {
namespace {

using hlo::Literal;

const float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

bool Same(Literal got, Literal want, Tolerance tolerance = {}) {
  return CompareArrays(got, want, tolerance).ok();
}

TEST(CompareArrays, ExactMeansBitsButAnyNan) {
  EXPECT_TRUE(Same(Literal::Vector<float>({1, kNan}), Literal::Vector<float>({1, -kNan})));
  EXPECT_FALSE(Same(Literal::Vector<float>({-0.0f}), Literal::Vector<float>({0.0f})));
  EXPECT_FALSE(Same(Literal::Vector<float>({1}), Literal::Vector<float>({std::nextafter(1.0f, 2.0f)})));
  EXPECT_FALSE(Same(Literal::Vector<int32_t>({1, 2}), Literal::Vector<int32_t>({1, 3})));
}

TEST(CompareArrays, ToleranceIsRelativePlusAbsolute) {
  const Tolerance t{.rtol = 1e-2, .atol = 0.5};
  EXPECT_TRUE(Same(Literal::Vector<float>({101.4f}), Literal::Vector<float>({100}), t));
  EXPECT_FALSE(Same(Literal::Vector<float>({101.6f}), Literal::Vector<float>({100}), t));
  EXPECT_FALSE(Same(Literal::Vector<float>({kNan}), Literal::Vector<float>({0}), t));
  EXPECT_FALSE(Same(Literal::Vector<float>({0}), Literal::Vector<float>({kNan}), t));
  EXPECT_FALSE(Same(Literal::Vector<float>({kInf}), Literal::Vector<float>({-kInf}), t));
  EXPECT_FALSE(Same(Literal::Vector<float>({1e30f}), Literal::Vector<float>({kInf}), t));
  EXPECT_TRUE(Same(Literal::Vector<float>({kInf}), Literal::Vector<float>({kInf}), t));
}

TEST(CompareArrays, ShapesMustAgree) {
  EXPECT_FALSE(Same(Literal::Vector<float>({1}), Literal::Array<float>({1, 1}, {1})));
  EXPECT_FALSE(Same(Literal::Vector<float>({1}), Literal::Vector<double>({1})));
}

TEST(LoadCase, SaysWhatIsMissing) {
  EXPECT_EQ(LoadCase("no_such_case").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace hlod::testing
