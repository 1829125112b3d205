// The memory in which spans lie: results' memory while it is free, else a heap.
#pragma once

#include <cstdint>
#include <vector>

#include "client/analysis/module/memory/spans.h"

namespace hlod::analysis {

// A result's memory, and when it is in use.
struct Room {
  int64_t bytes = 0;
  std::vector<Ticks> busy;
};

// Moves spans into rooms that are large enough and free all the while, the largest spans first and each into
// the smallest such room, as XLA's buffer assignment does. Returns the others.
std::vector<Span> LeftOver(std::vector<Span> spans, std::vector<Room> rooms);

struct Alive {
  int64_t bytes = 0, tick = 0;
};
// Returns the most bytes that are alive at once, and when.
Alive MostAlive(const std::vector<Span>& spans);

// Returns the height of a heap with the spans: the largest first, each into the smallest gap that it fits, or
// on top. Many spans are not laid out: they are taken to fit without gaps.
int64_t HeapBytes(std::vector<Span> spans);

}  // namespace hlod::analysis
