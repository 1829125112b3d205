// Waits for the lock of tracing while another thread holds it, by a futex.
#include "client/tensor/trace/lock.h"

#include <pthread.h>

namespace hlod::lazy {

[[maybe_unused]] static const int at_fork = pthread_atfork(nullptr, nullptr, TraceLock::ForgetOtherThreads);

void TraceLock::ForgetOtherThreads() {
  if (depth_ == 0) word_.store(kFree);
}

void TraceLock::Wait() {
  while (word_.exchange(kWaitedFor, std::memory_order_acquire) != kFree) word_.wait(kWaitedFor);
}

}  // namespace hlod::lazy
