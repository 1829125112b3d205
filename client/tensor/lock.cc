// The lock of tracing: an exchange when it is free, a futex when it is not.
#include "client/tensor/lock.h"

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace hlod::lazy {
namespace {

enum : uint32_t { kFree, kHeld, kWaitedFor };
constinit std::atomic<uint32_t> word = kFree;
constinit thread_local int depth = 0;

// A child forked while another thread traced has no such thread: the lock is free there.
[[maybe_unused]] const int at_fork = pthread_atfork(nullptr, nullptr, [] {
  if (depth == 0) word.store(kFree);
});

}  // namespace

TraceLock::TraceLock() {
  if (depth++ > 0) return;
  uint32_t free = kFree;
  if (word.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) return;
  while (word.exchange(kWaitedFor, std::memory_order_acquire) != kFree) word.wait(kWaitedFor);
}

TraceLock::~TraceLock() {
  if (--depth > 0) return;
  if (word.exchange(kFree, std::memory_order_release) == kWaitedFor) word.notify_one();
}

}  // namespace hlod::lazy
