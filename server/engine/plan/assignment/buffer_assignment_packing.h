// Packing: assigns to each interval of time with a size an offset in one arena, such that no two intervals
// overlap both in time and in the arena.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hlod::engine {

struct PackItem {
  int32_t start = 0, end = 0;  // Both ends are inclusive.
  int64_t bytes = 0;
  int64_t offset = 0;  // Set by Pack.
};

// Sets each item's offset, a multiple of `alignment`. Returns the arena's size, or nullopt when it overflows.
std::optional<int64_t> Pack(std::vector<PackItem>& items, int64_t alignment);

}  // namespace hlod::engine
