// Processor time: unlike wall time it does not count other processes.
#pragma once

#include <ctime>

namespace hlod {

// Returns the seconds that all threads of this process have computed.
inline double ProcessCpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace hlod
