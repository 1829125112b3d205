// One element of a literal as text and back, to the same bits: decimal digits enough, infinities, and NaNs
// with sign and payload.
#pragma once

#include <complex>
#include <string>
#include <type_traits>

#include "common/hlo/primitive_type.h"
#include "common/hlo/text/lexer.h"

namespace hlod::hlo::text {

// What the text needs to know of a floating-point format.
template <typename T>
struct FloatFormat {  // SmallFloat
  using Bits = typename T::Storage;
  static constexpr int kMantissaBits = T::kMantissaBits, kExponentBits = T::kExponentBits;
  static constexpr bool kHasPayload = T::kFloatFlavor == FloatFlavor::kIeee && kMantissaBits > 1;
  static constexpr bool kHasInfinity = T::kHasInfinity, kHasNan = T::kHasNan;
  // What is negative has a sign bit of its own; in FNUZ that bit alone is the NaN.
  static constexpr bool kSignedNan =
      T::kFloatFlavor == FloatFlavor::kIeee || T::kFloatFlavor == FloatFlavor::kFiniteNan;
};
template <>
struct FloatFormat<float> {
  using Bits = uint32_t;
  static constexpr int kMantissaBits = 23, kExponentBits = 8;
  static constexpr bool kHasPayload = true, kHasInfinity = true, kHasNan = true, kSignedNan = true;
};
template <>
struct FloatFormat<double> {
  using Bits = uint64_t;
  static constexpr int kMantissaBits = 52, kExponentBits = 11;
  static constexpr bool kHasPayload = true, kHasInfinity = true, kHasNan = true, kSignedNan = true;
};

// Reads one element of type T; errors name what was met and what T can hold.
template <typename T>
absl::Status ReadElement(Lexer& lexer, T& value);
// Appends one element. Alone in a literal, a pred is true or false; in an array it is 1 or 0.
template <typename T>
void PrintElement(const T& value, bool alone, std::string& out);

}  // namespace hlod::hlo::text
