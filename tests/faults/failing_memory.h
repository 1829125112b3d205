// Memory that fails on demand: the n-th allocation of a program, on whichever thread it is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hlod::faults {

// From now on counts the allocations of at least `bytes_min` bytes, and fails the one with the number
// `failing` (from 1 on; 0: none) as the system would: operator new throws, aligned_alloc and mmap return
// null and MAP_FAILED. Allocations of Abseil's hash tables and formatting and of protobuf's messages do not
// fail: these libraries are not made for it.
void ArmMemory(int64_t failing, size_t bytes_min);
// Ends it. Returns the number of allocations that were counted.
int64_t DisarmMemory();
// Returns true when the failing allocation has taken place.
bool MemoryHasFailed();
// The bytes of all blocks from operator new that have not been deleted.
int64_t LiveBytes();

// Allocations of a thread count unless it is spared. Threads begin without being spared.
void SpareThisThread(bool spared);

// Inside, the allocations of this thread count.
class Counted {
 public:
  Counted();
  ~Counted();
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  const bool before_;
};

// Writes the stack of the failing allocation to stderr, to find out whose it was.
void ShowFailingAllocation(bool show);

}  // namespace hlod::faults
