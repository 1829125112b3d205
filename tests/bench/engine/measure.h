// Shared by the engine's benches: the median time of a call, and memory in the form that plans need.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace hlod::bench {

using Clock = std::chrono::steady_clock;

// A clock of this process's processor time, which does not count other processes.
struct ProcessorClock {
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<ProcessorClock, duration>;
  static time_point now() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + duration(time.tv_nsec));
  }
};

template <typename TimePoint>
double MicrosecondsSince(TimePoint start) {
  return std::chrono::duration<double, std::micro>(TimePoint::clock::now() - start).count();
}

// Returns the median time of calls that together take about `budget_us`, at least `least` of them.
template <typename TheClock = Clock, typename Call>
double MedianTime(double budget_us, size_t least, Call call) {
  std::vector<double> times;
  const typename TheClock::time_point begin = TheClock::now();
  while (times.size() < least || (MicrosecondsSince(begin) < budget_us && times.size() < 1000)) {
    const typename TheClock::time_point start = TheClock::now();
    call();
    times.push_back(MicrosecondsSince(start));
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

// Memory aligned to 64 bytes, with every page touched.
struct AlignedFree {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using Bytes = std::unique_ptr<std::byte, AlignedFree>;
inline Bytes MakeBytes(int64_t size) {
  const size_t rounded = (static_cast<size_t>(size) + 64) / 64 * 64;
  auto* bytes = static_cast<std::byte*>(std::aligned_alloc(64, rounded));
  std::memset(bytes, 0, rounded);
  return Bytes(bytes);
}

}  // namespace hlod::bench
