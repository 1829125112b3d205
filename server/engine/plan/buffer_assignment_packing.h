// Packing: intervals of time with sizes, to offsets in one arena, such that no two overlap in both.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hlod::engine {

struct PackItem {
  int32_t start = 0, end = 0;  // Both inclusive.
  int64_t bytes = 0;
  int64_t offset = 0;  // The answer.
};

// Sets each item's offset, a multiple of `alignment`; returns the arena's size, or nothing when it overflows.
std::optional<int64_t> Pack(std::vector<PackItem>& items, int64_t alignment);

}  // namespace hlod::engine
