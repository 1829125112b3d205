// The lock of tracing: one in the process, held while an operation is recorded or a trace is closed, never
// while anything is waited for.
#pragma once

namespace hlod::lazy {

// Holds the lock. May nest in one thread. Uncontended it costs one atomic exchange, which is why tracing
// takes it for every operation: tensors may be used from any thread.
class TraceLock {
 public:
  TraceLock();
  ~TraceLock();
  TraceLock(const TraceLock&) = delete;
  TraceLock& operator=(const TraceLock&) = delete;
};

}  // namespace hlod::lazy
