// The bounds of sizes that grow: one program serves all sizes up to a bound.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace hlod::lazy {

// The smallest bound: with smaller ones a short loop would compile once for each of them.
inline constexpr int64_t kBoundMin = 32;
// The largest size whose bound is a power of two. Larger arrays would waste memory: their bounds are
// multiples of an eighth of the next power of two, at most a quarter above the size.
inline constexpr int64_t kPowerMax = 1024;

// Returns the bound for a size.
inline int64_t BoundOf(int64_t size) {
  const auto power = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size)));
  if (size <= kPowerMax) return std::max(kBoundMin, power);
  const int64_t step = power / 8;
  return (size + step - 1) / step * step;
}

}  // namespace hlod::lazy
