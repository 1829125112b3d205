// A stable sort by a comparator that answers a block of questions at a time, for comparators that are
// expensive to call once and cheap to call for five hundred pairs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"

namespace hlod {

// Asks for O(n log n) answers (expected), whatever the comparator. A comparator that contradicts itself
// yields an arbitrary order. Allocates no memory.
class BlockSorter {
 public:
  static constexpr int64_t kBlock = 512;
  static constexpr int64_t kCountMax = (int64_t{1} << 31) - 1;

  // Sets answers[i] to 1 where element x[i] comes before element y[i], else to 0, for i < count <= kBlock.
  // Returning false ends the sort.
  using Less = absl::FunctionRef<bool(const uint32_t* x, const uint32_t* y, int64_t count, uint8_t* answers)>;
  // Called with the number of elements that were moved since the last call, at most 2^16. Returning true ends
  // the sort.
  using Stops = absl::FunctionRef<bool(int64_t count)>;

  static int64_t ScratchBytes(int64_t count);
  // Prepares to sort the elements 0..count-1. `scratch` has ScratchBytes(count) bytes, is aligned to 8 and is
  // not owned.
  BlockSorter(std::byte* scratch, int64_t count);

  // Returns false when `less` or `stops` ended the sort.
  bool Sort(Less less, Stops stops);
  // The elements in order, once Sort has returned true.
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
  bool* before_;  // By position: true when the element there comes before the pivot of its segment.
};

}  // namespace hlod
