// Conversions between f32 and narrower floats, as straight-line code on bits, so that loops over them can be
// vectorised on any processor. They return the same numbers as the conversions of
// common/hlo/elements/small_types.h, which are the definition.
#pragma once

#include <bit>
#include <cstdint>

#include "common/base/system/cpu.h"
#include "common/hlo/elements/small_types.h"

namespace hlod::engine {

// Widens a value exactly.
template <typename Small>
HLOD_ALWAYS_INLINE float WidenSmall(Small value) {
  constexpr int kExponent = Small::kExponentBits, kMantissa = Small::kMantissaBits;
  constexpr hlo::FloatFlavor kFlavor = Small::kFloatFlavor;
  constexpr int32_t kNan = 0x7fc00000;
  const int32_t bits = value.bits();
  if constexpr (kExponent == 8 && kMantissa == 7) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  } else if constexpr (kFlavor == hlo::FloatFlavor::kPowerOfTwo) {
    const int32_t power = bits == 0 ? 0x00400000 : bits << 23;  // 2^-127 is subnormal.
    return std::bit_cast<float>(bits == 0xff ? kNan : power);
  } else {
    constexpr int32_t kMagnitudes = (1 << (kExponent + kMantissa)) - 1, kSign = kMagnitudes + 1;
    constexpr int32_t kLeast = (128 - Small::kBias) << 23;  // The smallest normal value, as an f32.
    const int32_t magnitude = bits & kMagnitudes, shifted = magnitude << (23 - kMantissa);
    // A subnormal value is computed as a number of steps above the smallest normal one, which is then
    // subtracted.
    const float steps = std::bit_cast<float>(shifted + kLeast) - std::bit_cast<float>(kLeast);
    int32_t wide =
        magnitude < (1 << kMantissa) ? std::bit_cast<int32_t>(steps) : shifted + ((127 - Small::kBias) << 23);
    if constexpr (kFlavor == hlo::FloatFlavor::kIeee) {
      constexpr int32_t kInfinity = ((1 << kExponent) - 1) << kMantissa;
      wide = magnitude >= kInfinity ? shifted | 0x7f800000 : wide;
    }
    if constexpr (kFlavor == hlo::FloatFlavor::kFiniteNan) wide = magnitude == kMagnitudes ? kNan : wide;
    const uint32_t sign = static_cast<uint32_t>(bits & kSign) << (31 - kExponent - kMantissa);
    uint32_t result = static_cast<uint32_t>(wide) | sign;
    if constexpr (kFlavor == hlo::FloatFlavor::kUnsignedZero) {
      result = (bits & (kSign | kMagnitudes)) == kSign ? static_cast<uint32_t>(kNan) : result;
    }
    return std::bit_cast<float>(result);
  }
}

// Rounds to nearest even. For a NaN, f16 keeps the payload's bits that fit, like the processors' conversions;
// the 8-bit types have a single NaN.
template <typename Small>
HLOD_ALWAYS_INLINE Small RoundToSmall(float value) {
  constexpr int kExponent = Small::kExponentBits, kMantissa = Small::kMantissaBits;
  constexpr hlo::FloatFlavor kFlavor = Small::kFloatFlavor;
  const uint32_t wide = std::bit_cast<uint32_t>(value);
  const auto magnitude = static_cast<int32_t>(wide & 0x7fffffffu);
  const bool is_nan = magnitude > 0x7f800000;
  using Bits = typename Small::Storage;
  if constexpr (kExponent == 8 && kMantissa == 7) {
    const uint32_t rounded = (wide + 0x7fffu + (wide >> 16 & 1u)) >> 16;
    return Small::FromBits(static_cast<Bits>(is_nan ? (wide >> 16) | 0x40u : rounded));
  } else if constexpr (kFlavor == hlo::FloatFlavor::kPowerOfTwo) {
    // 2^-127 is subnormal in f32, and a tie is rounded up. Zero, negative numbers, too large numbers and NaN
    // have no value in this type.
    const auto rounded = static_cast<int32_t>(((wide & 0x7fffffffu) + 0x00400000u) >> 23);
    const int32_t small = magnitude >= 0x00600000 ? 1 : 0;
    const int32_t power = magnitude < 0x00800000 ? small : rounded;
    const bool none = magnitude == 0 || magnitude >= 0x7f400000 || wide != static_cast<uint32_t>(magnitude);
    return Small::FromBits(static_cast<Bits>(none ? 0xff : power));
  } else {
    constexpr int kDrop = 23 - kMantissa;
    constexpr int32_t kMagnitudes = (1 << (kExponent + kMantissa)) - 1, kSign = kMagnitudes + 1;
    constexpr int32_t kInfinity = ((1 << kExponent) - 1) << kMantissa;  // The infinity, or the first value
                                                                        // with the top exponent.
    constexpr int32_t kLargest = kFlavor == hlo::FloatFlavor::kIeee        ? kInfinity - 1
                                 : kFlavor == hlo::FloatFlavor::kFiniteNan ? kMagnitudes - 1
                                                                           : kMagnitudes;
    constexpr int32_t kBeyond = kFlavor == hlo::FloatFlavor::kIeee           ? kInfinity
                                : kFlavor == hlo::FloatFlavor::kFiniteNan    ? kMagnitudes
                                : kFlavor == hlo::FloatFlavor::kUnsignedZero ? kSign
                                                                             : kLargest;
    constexpr int32_t kLeast = (128 - Small::kBias) << 23;
    // Adding it makes the subnormal steps the last bits of the mantissa, rounded.
    constexpr int32_t kAlign = (151 - Small::kBias - kMantissa) << 23;
    const int32_t steps =
        std::bit_cast<int32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kAlign)) - kAlign;
    // For NaN this may wrap; the result is not used then.
    const auto up = static_cast<uint32_t>(magnitude) + ((1u << (kDrop - 1)) - 1) +
                    (static_cast<uint32_t>(magnitude) >> kDrop & 1u);
    const int32_t normal = static_cast<int32_t>(up >> kDrop) - ((127 - Small::kBias) << kMantissa);
    int32_t rounded = magnitude < kLeast ? steps : normal;
    rounded = rounded > kLargest ? kBeyond : rounded;
    const auto sign = static_cast<int32_t>(wide >> (31 - kExponent - kMantissa)) & kSign;
    if constexpr (kFlavor == hlo::FloatFlavor::kUnsignedZero) {
      const int32_t signed_value = rounded == 0 ? 0 : rounded | sign;
      return Small::FromBits(static_cast<Bits>(is_nan ? kSign : signed_value));
    } else if constexpr (kFlavor == hlo::FloatFlavor::kFinite) {
      return Small::FromBits(static_cast<Bits>(is_nan ? kSign : rounded | sign));
    } else if constexpr (kFlavor == hlo::FloatFlavor::kFiniteNan) {
      return Small::FromBits(static_cast<Bits>((is_nan ? kMagnitudes : rounded) | sign));
    } else {
      constexpr int32_t kQuiet = 1 << (kMantissa - 1);
      const int32_t payload = sizeof(Bits) == 2 ? magnitude >> kDrop & (kQuiet - 1) : 0;
      return Small::FromBits(static_cast<Bits>((is_nan ? kInfinity | kQuiet | payload : rounded) | sign));
    }
  }
}

}  // namespace hlod::engine
