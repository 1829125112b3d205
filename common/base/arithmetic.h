// Sizes and ranges that cannot overflow: byte counts come from clients, so each product and sum is checked.
#pragma once

#include <cstdint>
#include <optional>

namespace hlod {

// Returns a * b, or nullopt when it does not fit an int64 or a factor is negative.
inline std::optional<int64_t> CheckedMultiply(int64_t a, int64_t b) {
  int64_t product;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

// Returns a + b, or nullopt when it does not fit an int64 or a term is negative.
inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

// Returns a / b rounded up; b must be positive. It does not compute a + b, so it cannot overflow.
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }
static_assert(CeilDiv(INT64_MAX, INT64_MAX) == 1 && CeilDiv(70'000, INT64_MAX) == 1, "no wrap-around");
static_assert(CeilDiv(0, 3) == 0 && CeilDiv(6, 3) == 2 && CeilDiv(7, 3) == 3, "rounds up");

// Returns true when [offset, offset + length) lies in [0, size), decided without an addition that could wrap.
constexpr bool InRange(uint64_t offset, uint64_t length, uint64_t size) {
  return offset <= size && length <= size - offset;
}
static_assert(!InRange(1, UINT64_MAX, 8), "no wrap-around");

// Returns the smallest multiple of `alignment` (a power of two) that is not less than `n`. `n` must be far
// below 2^63.
constexpr int64_t AlignUp(int64_t n, int64_t alignment) { return (n + alignment - 1) & ~(alignment - 1); }

}  // namespace hlod
