// Minimum and maximum of zeros and of NaN, as in XLA.
#include "common/hlo/elements/order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hlod::hlo {
namespace {

template <typename T>
class Order : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Order, Floats);

TYPED_TEST(Order, OfZerosTheMaximumIsPositiveAndTheMinimumNegative) {
  const TypeParam plus = 0, minus = -plus;
  EXPECT_FALSE(std::signbit(Maximum(plus, minus)));
  EXPECT_FALSE(std::signbit(Maximum(minus, plus)));
  EXPECT_TRUE(std::signbit(Maximum(minus, minus)));
  EXPECT_TRUE(std::signbit(Minimum(plus, minus)));
  EXPECT_TRUE(std::signbit(Minimum(minus, plus)));
  EXPECT_FALSE(std::signbit(Minimum(plus, plus)));
}

TYPED_TEST(Order, ANanOnEitherSideIsTheResult) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  const TypeParam inf = std::numeric_limits<TypeParam>::infinity();
  for (const TypeParam other : {TypeParam{1}, TypeParam{0}, inf, -inf}) {
    EXPECT_TRUE(std::isnan(Maximum(nan, other)));
    EXPECT_TRUE(std::isnan(Maximum(other, nan)));
    EXPECT_TRUE(std::isnan(Minimum(nan, other)));
    EXPECT_TRUE(std::isnan(Minimum(other, nan)));
  }
}

TYPED_TEST(Order, NumbersCompare) {
  EXPECT_EQ(Maximum(TypeParam{-2}, TypeParam{3}), 3);
  EXPECT_EQ(Maximum(TypeParam{3}, TypeParam{-2}), 3);
  EXPECT_EQ(Minimum(TypeParam{-2}, TypeParam{3}), -2);
  EXPECT_EQ(Minimum(TypeParam{3}, TypeParam{-2}), -2);
}

}  // namespace
}  // namespace hlod::hlo
