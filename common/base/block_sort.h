// A stable sort whose comparator answers a block of comparisons at a time: for comparators that are expensive
// to call once and cheap to call for five hundred pairs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"

namespace hlod {

// Needs O(n log n) comparisons (expected) for any comparator. An inconsistent comparator results in an
// arbitrary order. Does not allocate memory.
class BlockSorter {
 public:
  static constexpr int64_t kBlock = 512;
  static constexpr int64_t kCountMax = (int64_t{1} << 31) - 1;

  // Sets answers[i] to 1 if element x[i] comes before element y[i], else to 0, for i < count <= kBlock.
  // Returning false ends the sort.
  using Less = absl::FunctionRef<bool(const uint32_t* x, const uint32_t* y, int64_t count, uint8_t* answers)>;
  // Called with the number of elements moved since the last call, at most 2^16. Returning true ends the sort.
  using Stops = absl::FunctionRef<bool(int64_t count)>;

  static int64_t ScratchBytes(int64_t count);
  // Prepares to sort the elements 0..count-1. `scratch` must have ScratchBytes(count) bytes and be aligned to
  // 8; it is not owned.
  BlockSorter(std::byte* scratch, int64_t count);

  // Returns false when `less` or `stops` ended the sort.
  bool Sort(Less less, Stops stops);
  // The elements in order, after Sort has returned true.
  const uint32_t* order() const { return order_; }

 private:
  struct Segment {
    uint32_t begin, end;
  };
  class Questions;

  bool AskAll(Less less, const Segment* segments, int64_t count);
  bool Partition(Segment segment, Stops stops);

  const int64_t count_;
  Segment *segments_, *parts_;
  int64_t parts_count_ = 0;
  uint32_t *order_, *next_;
  bool* before_;  // True for each position whose element comes before the pivot of its segment.
};

}  // namespace hlod
