// Converts one element from one type to another, with the rounding and saturation of HLO's `convert`.
#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/hlo/elements/small_types.h"

namespace hlod::hlo {

// The type that represents every value of T exactly and from which ConvertElement rounds once: float, double,
// int64_t, uint64_t or std::complex<double>.
template <typename T>
struct WideOf {
  using type = int64_t;  // For pred and signed integers.
};
template <typename T>
  requires(std::unsigned_integral<T> && !std::same_as<T, bool>)
struct WideOf<T> {
  using type = uint64_t;
};
template <typename T>
  requires(kIsSmallFloat<T> || std::same_as<T, float>)
struct WideOf<T> {
  using type = float;
};
template <>
struct WideOf<double> {
  using type = double;
};
template <typename T>
struct WideOf<std::complex<T>> {
  using type = std::complex<double>;
};
template <typename T>
using Wide = typename WideOf<T>::type;

// Truncates towards zero and saturates to the range of To; NaN becomes 0.
template <std::integral To, std::floating_point From>
constexpr To TruncateSaturated(From value) {
  constexpr To kMin = std::numeric_limits<To>::min(), kMax = std::numeric_limits<To>::max();
  if (!(value == value)) return 0;
  if (value <= static_cast<From>(kMin)) return kMin;
  if (value >= static_cast<From>(kMax)) return kMax;
  return static_cast<To>(value);
}

// Converts `value` (of a wide type) to To: floats round to nearest even; floats to integers truncate and
// saturate, with NaN becoming 0; integers wrap; complex to real drops the imaginary part; and pred is true
// for any value but zero.
template <typename To, typename From>
To NarrowElement(From value) {
  if constexpr (std::same_as<To, bool>) {
    return value != From(0);
  } else if constexpr (std::same_as<From, std::complex<double>>) {
    if constexpr (std::same_as<To, std::complex<double>>) {
      return value;
    } else if constexpr (std::same_as<To, std::complex<float>>) {
      return {static_cast<float>(value.real()), static_cast<float>(value.imag())};
    } else {
      return NarrowElement<To>(value.real());
    }
  } else if constexpr (std::same_as<To, std::complex<float>>) {
    return {static_cast<float>(value), 0.0f};
  } else if constexpr (std::same_as<To, std::complex<double>>) {
    return {static_cast<double>(value), 0.0};
  } else if constexpr (kIsSmallInt<To>) {
    if constexpr (std::floating_point<From>) {
      const int64_t whole = TruncateSaturated<int64_t>(value);
      return To(whole < To::kMin ? To::kMin : whole > To::kMax ? To::kMax : static_cast<int>(whole));
    } else {
      return To(value);
    }
  } else if constexpr (std::integral<To> && std::floating_point<From>) {
    return TruncateSaturated<To>(value);
  } else if constexpr (kIsSmallFloat<To> && std::integral<From>) {
    // A double holds integers below 2^53 exactly. A larger one keeps its leading bits and a sticky bit, so
    // that it still rounds once.
    constexpr uint64_t kExact = uint64_t{1} << 53;
    const bool negative = value < From{0};
    const uint64_t magnitude = negative ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    if (magnitude >= kExact) {
      const uint64_t rounded_to_odd = (magnitude >> 12) | static_cast<uint64_t>((magnitude & 0xfff) != 0);
      const double scaled = static_cast<double>(rounded_to_odd) * 4096.0;
      return To(negative ? -scaled : scaled);
    }
    return To(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <typename To, typename From>
To ConvertElement(From value) {
  return NarrowElement<To>(static_cast<Wide<From>>(value));
}

}  // namespace hlod::hlo
