// The single lock of tracing in the process. It is held while an operation is recorded, a trace is closed or
// a host tensor is computed, and never while a thread waits for the program's devices.
#pragma once

#include <atomic>
#include <cstdint>

namespace hlod::lazy {

// Holds the lock while it exists. May nest in one thread. Without contention it costs two atomic exchanges,
// so that it can be taken for every operation, and tensors may be used from any thread.
class TraceLock {
 public:
  TraceLock() {
    if (depth_++ > 0) return;
    uint32_t free = kFree;
    if (!word_.compare_exchange_strong(free, kHeld, std::memory_order_acquire)) Wait();
  }
  ~TraceLock() {
    if (--depth_ > 0) return;
    if (word_.exchange(kFree, std::memory_order_release) == kWaitedFor) word_.notify_one();
  }
  // Returns true when the end of this one frees the lock.
  bool is_outermost() const { return depth_ == 1; }
  TraceLock(const TraceLock&) = delete;
  TraceLock& operator=(const TraceLock&) = delete;

  // Frees the lock in a forked child, where the thread that held it does not exist.
  static void ForgetOtherThreads();

 private:
  enum : uint32_t { kFree, kHeld, kWaitedFor };
  static void Wait();

  static constinit inline std::atomic<uint32_t> word_ = kFree;
  static constinit inline thread_local int depth_ = 0;
};

}  // namespace hlod::lazy
