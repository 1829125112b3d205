// Clocks of a benchmark. Processor time does not count other processes, unlike wall time.
#pragma once

#include <ctime>

namespace hlod {

inline double SecondsOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
// Returns the seconds that all threads of this process have computed.
inline double ProcessCpuSeconds() { return SecondsOf(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace hlod
