// A stable sort by a comparator that answers a block of questions at a time: what costs much to ask once, and
// little to ask five hundred times.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"

namespace hlod {

// Takes expected O(n log n) answers of any comparator. One that contradicts itself gives some order.
// Allocates nothing.
class BlockSorter {
 public:
  static constexpr int64_t kBlock = 512;
  static constexpr int64_t kCountMax = (int64_t{1} << 31) - 1;

  // Sets answers[i] to 1 where element x[i] comes before element y[i], else to 0, for i < count <= kBlock.
  // False ends the sort.
  using Less = absl::FunctionRef<bool(const uint32_t* x, const uint32_t* y, int64_t count, uint8_t* answers)>;
  // Told of elements that have been moved, 2^16 at most at a time. True ends the sort.
  using Stops = absl::FunctionRef<bool(int64_t count)>;

  static int64_t ScratchBytes(int64_t count);
  // Of the elements 0..count-1. `scratch`: ScratchBytes(count), aligned to 8; not owned.
  BlockSorter(std::byte* scratch, int64_t count);

  // False when `less` or `stops` has ended it.
  bool Sort(Less less, Stops stops);
  // The elements in order, once they are sorted.
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
  bool* before_;  // Of each place, whether its element comes before the pivot of its segment.
};

}  // namespace hlod
