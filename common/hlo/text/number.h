// Reads and prints one element of a literal without loss of bits: with enough decimal digits, infinities, and
// NaNs with sign and payload.
#pragma once

#include <complex>
#include <string>
#include <type_traits>

#include "common/hlo/primitive_type.h"
#include "common/hlo/text/lexer.h"

namespace hlod::hlo::text {

// The properties of a floating-point format that the text depends on.
template <typename T>
struct FloatFormat {  // The format of a SmallFloat.
  using Bits = typename T::Storage;
  static constexpr int kMantissaBits = T::kMantissaBits, kExponentBits = T::kExponentBits;
  static constexpr bool kHasPayload = T::kFloatFlavor == FloatFlavor::kIeee && kMantissaBits > 1;
  static constexpr bool kHasInfinity = T::kHasInfinity, kHasNan = T::kHasNan;
  // True when NaNs have a sign; in FNUZ the sign bit alone is the NaN.
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

// Reads one element of type T. Errors show the text and the range of T.
template <typename T>
absl::Status ReadElement(Lexer& lexer, T& value);
// Appends one element. A single pred is true or false; in an array it is 1 or 0.
template <typename T>
void PrintElement(const T& value, bool alone, std::string& out);

}  // namespace hlod::hlo::text
