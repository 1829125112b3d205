// Small floats compared with ml_dtypes, and integers below a byte compared with hand arithmetic.
#include "common/hlo/elements/small_types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

namespace hlod::hlo {
namespace {

template <typename T>
void ExpectBits(const char* type, float value, unsigned bits) {
  // The bits of a NaN are unspecified, but it must be a NaN.
  const T encoded(value);
  if (std::isnan(value) && T::kHasNan) {
    EXPECT_TRUE(std::isnan(static_cast<float>(encoded))) << type;
    return;
  }
  EXPECT_EQ(encoded.bits(), bits) << type << " of " << value;
}

TEST(SmallFloat, EncodesAsMlDtypes) {
#define HLOD_SMALL(type, value, bits) ExpectBits<type>(#type, value, bits);
#include "tests/unit/common/hlo/small_types_golden.inc"
#undef HLOD_SMALL
}

template <typename T>
class EveryPattern : public testing::Test {};
using SmallFloats = testing::Types<F16, BF16, F8E5M2, F8E4M3, F8E3M4, F8E4M3FN, F8E4M3B11FNUZ, F8E4M3FNUZ,
                                   F8E5M2FNUZ, F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E8M0FNU>;
TYPED_TEST_SUITE(EveryPattern, SmallFloats);

TYPED_TEST(EveryPattern, DecodesAndEncodesToItself) {
  constexpr bool kUnsigned = TypeParam::kFloatFlavor == FloatFlavor::kPowerOfTwo;
  const unsigned patterns = 1u << (TypeParam::kExponentBits + TypeParam::kMantissaBits + (kUnsigned ? 0 : 1));
  for (unsigned bits = 0; bits < patterns; ++bits) {
    const float value = TypeParam::FromBits(static_cast<typename TypeParam::Storage>(bits));
    if (std::isnan(value)) continue;
    EXPECT_EQ(TypeParam(value).bits(), bits) << value;
    EXPECT_EQ(TypeParam(static_cast<double>(value)).bits(), bits) << value;
  }
}

TYPED_TEST(EveryPattern, RoundsHalfwayToEven) {
  // The middle between the neighbours 2^0 and 2^0 (1 + 2^-m) rounds to the even one, the first.
  if (TypeParam::kFloatFlavor == FloatFlavor::kPowerOfTwo) return;  // The type has no mantissa.
  const double step = std::ldexp(1.0, -TypeParam::kMantissaBits);
  EXPECT_EQ(static_cast<float>(TypeParam(1 + step / 2)), 1.0f);
  EXPECT_EQ(static_cast<float>(TypeParam(1 + step * 1.5)), static_cast<float>(1 + step * 2));
  // A double just above the middle rounds up, though as a float it would be the middle.
  EXPECT_EQ(static_cast<float>(TypeParam(1 + step / 2 + 1e-12)), static_cast<float>(1 + step));
}

TEST(SmallInt, WrapsAsTwosComplement) {
  EXPECT_EQ(S4(7), 7);
  EXPECT_EQ(S4(8), -8);
  EXPECT_EQ(S4(-9), 7);
  EXPECT_EQ(S4(16), 0);
  EXPECT_EQ(U4(-1), 15);
  EXPECT_EQ(U4(17), 1);
  EXPECT_EQ(S2(2), -2);
  EXPECT_EQ(U2(5), 1);
  EXPECT_EQ(S1(1), -1);
  EXPECT_EQ(U1(3), 1);
}

}  // namespace
}  // namespace hlod::hlo
