// Figures that a client can make arbitrarily large, such as modelled times: they stop at the largest number.
#pragma once

#include <cstdint>

namespace hlod {

// Returns a + b, at most INT64_MAX. Neither may be negative.
constexpr int64_t SaturatedSum(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }
static_assert(SaturatedSum(INT64_MAX, 1) == INT64_MAX && SaturatedSum(2, 3) == 5, "no wrap-around");

// Add to a sum, or subtract from it; it stops at INT64_MAX and at INT64_MIN.
constexpr void AddSaturated(int64_t& sum, int64_t more) {
  if (__builtin_add_overflow(sum, more, &sum)) sum = more < 0 ? INT64_MIN : INT64_MAX;
}
constexpr void SubtractSaturated(int64_t& sum, int64_t less) {
  if (__builtin_sub_overflow(sum, less, &sum)) sum = less < 0 ? INT64_MAX : INT64_MIN;
}

// Returns the nearest integer, at least 0 and at most INT64_MAX; 0 for NaN.
constexpr int64_t SaturatedInteger(double number) {
  if (!(number > 0)) return 0;
  return number >= 0x1p63 ? INT64_MAX : static_cast<int64_t>(number + 0.5);
}
static_assert(SaturatedInteger(1e300) == INT64_MAX && SaturatedInteger(-1) == 0 &&
              SaturatedInteger(2.5) == 3);

}  // namespace hlod
