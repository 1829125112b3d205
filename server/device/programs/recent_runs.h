// The expected time of a program's next run, from its recent ones.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace hlod::device {

// The median of the last three times. A run whose thread the kernel sets aside for milliseconds, or the first
// one, which touches everything for the first time, must not make the next dozen of a program that takes a
// microsecond wait for a device's thread. Thread-safe; times that are added at once may be mixed up.
class RecentRuns {
 public:
  void Add(int64_t us) {
    const int64_t last = last_us_.exchange(us, std::memory_order_relaxed);
    const int64_t older = older_us_.exchange(last, std::memory_order_relaxed);
    int64_t typical = us;
    if (older >= 0) {
      typical = std::max(std::min(us, last), std::min(std::max(us, last), older));
    } else if (last >= 0) {
      typical = std::min(us, last);
    }
    typical_us_.store(typical, std::memory_order_relaxed);
  }
  // Returns -1 before the first run. After the second it is the shorter one.
  int64_t typical_us() const { return typical_us_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> last_us_{-1}, older_us_{-1}, typical_us_{-1};
};

}  // namespace hlod::device
