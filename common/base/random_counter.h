// The counter that a program's own random numbers are drawn by.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

namespace hlod {

// 128 bits, counted on by each draw; starts where XLA's does. Safe from any thread.
class RandomCounter {
 public:
  // The low and the high half before `delta` is added.
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
