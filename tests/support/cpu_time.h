// Processor time of this thread, for tests that bound work: what other processes take of the machine is not in
// it, as it would be in a clock's time.
#pragma once

#include <ctime>

namespace hlod {

inline double ThreadCpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace hlod
