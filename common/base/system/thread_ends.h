// The end of threads in a process that lacks memory.
#pragma once

#include <execinfo.h>

namespace hlod {

// glibc loads libgcc_s when a thread of the process first calls pthread_exit, as libgomp's threads do at
// their end, and aborts the process if there is no memory for that. Loads it while there is memory.
inline void PrepareForEndsOfThreads() {
  void* frame;
  backtrace(&frame, 1);  // Loads it by the same function of glibc.
}

}  // namespace hlod
