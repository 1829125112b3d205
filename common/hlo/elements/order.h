// Minimum and maximum of two elements: one definition for the evaluator, the tile functions and the reducers.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "common/base/system/cpu.h"

namespace hlod::hlo {

// Complex numbers are ordered by real part, then imaginary part.
template <typename T>
HLOD_ALWAYS_INLINE bool Less(T a, T b) {
  if constexpr (requires { a.imag(); }) {
    return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
  } else {
    return a < b;
  }
}

// Returns the maximum as XLA defines it: when an operand is NaN the result is that NaN (the first, when both
// are); the maximum of +0 and -0 is +0, their minimum is -0. Equal numbers differ in their bits only when
// they are zeros, so the bits of equal numbers are combined. Compilers vectorise both functions.
template <typename T>
HLOD_ALWAYS_INLINE T Maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    const Bits x = std::bit_cast<Bits>(a), y = std::bit_cast<Bits>(b);
    const Bits larger = a > b || a != a ? x : y;
    return std::bit_cast<T>(a == b ? static_cast<Bits>(x & y) : larger);
  } else if constexpr (requires { a.imag(); }) {
    return a != a ? a : b != b || Less(a, b) ? b : a;
  } else {
    return Less(a, b) ? b : a;
  }
}
template <typename T>
HLOD_ALWAYS_INLINE T Minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    const Bits x = std::bit_cast<Bits>(a), y = std::bit_cast<Bits>(b);
    const Bits smaller = a < b || a != a ? x : y;
    return std::bit_cast<T>(a == b ? static_cast<Bits>(x | y) : smaller);
  } else if constexpr (requires { a.imag(); }) {
    return a != a ? a : b != b || Less(b, a) ? b : a;
  } else {
    return Less(b, a) ? b : a;
  }
}

}  // namespace hlod::hlo
