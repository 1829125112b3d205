// Predicts which results of a program will be read, so that they can come with the end of its execute.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

namespace hlod::runtime {

// The history of one result over the executes of its program. A result is expected to be read when the same
// result of the last executes was read. After a result that was read ahead in vain, twice as many reads in a
// row are needed. Thread-safe; an update that is lost between threads only delays a prediction.
class ReadPattern {
 public:
  static constexpr int32_t kReadsMin = 8, kReadsMax = 4096;

  bool Expected() const { return reads_.load(std::memory_order_relaxed) >= needed(); }
  // Called when the result of an execute is read for the first time.
  void Read() {
    const int32_t reads = reads_.load(std::memory_order_relaxed);
    if (reads < kReadsMax) reads_.store(reads + 1, std::memory_order_relaxed);
  }
  // Called when the result of an execute is gone and was not read. `in_vain` is true when it was read ahead.
  void Unread(bool in_vain) {
    if (in_vain) needed_.store(std::min(2 * needed(), kReadsMax), std::memory_order_relaxed);
    reads_.store(0, std::memory_order_relaxed);
  }

 private:
  int32_t needed() const { return needed_.load(std::memory_order_relaxed); }
  std::atomic<int32_t> reads_{0}, needed_{kReadsMin};
};

}  // namespace hlod::runtime
