// The counter that a program's random numbers are drawn from.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

namespace hlod {

// A 128-bit counter that each draw advances. It starts at XLA's initial value. Thread-safe.
class RandomCounter {
 public:
  // Adds `delta` and returns the low and the high half of the counter's value before.
  std::array<uint64_t, 2> Take(uint64_t delta) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::array<uint64_t, 2> taken = {low_, high_};
    low_ += delta;
    if (low_ < delta) ++high_;
    return taken;
  }

  static constexpr uint64_t kStart = 0x7012395;

 private:
  std::mutex mutex_;
  uint64_t low_ = kStart, high_ = 0;
};

}  // namespace hlod
