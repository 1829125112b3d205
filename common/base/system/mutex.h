// std::mutex with the annotations that clang checks. It is not absl::Mutex because Debian's Abseil is not
// built for ThreadSanitizer, which would report each correct use of it as a race; and sessions and the
// rendezvous of participants are exactly the code that TSan has to check.
#pragma once

#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"

// Marks a function after whose call clang takes `mutex` for held.
#ifdef __clang__
#define HLOD_ASSERTS_HELD(mutex) __attribute__((assert_exclusive_lock(mutex)))
#else
#define HLOD_ASSERTS_HELD(mutex)
#endif

namespace hlod {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  // Tells clang that the caller holds the mutex, where it cannot see that: in a lambda, or under another
  // name.
  void AssertHeld() const ABSL_ASSERT_EXCLUSIVE_LOCK() {}

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex_->Lock(); }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* mutex_;
};

class CondVar {
 public:
  // Releases the mutex, sleeps until a signal or a spurious wake-up, and locks the mutex again. REQUIRES: the
  // caller holds it.
  void Wait(Mutex* mutex) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // Like Wait, for at most `timeout`. Uses system_clock, because GCC's TSan does not know waits on the steady
  // clock.
  void WaitFor(Mutex* mutex, std::chrono::microseconds timeout) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    condition_.wait_until(lock, std::chrono::system_clock::now() + timeout);
    lock.release();
  }
  void Signal() { condition_.notify_one(); }
  void SignalAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace hlod
