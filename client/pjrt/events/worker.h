// A thread for work that may wait, beside the framework's threads, which must not.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace hlod::pjrt {

// Runs jobs in order. Its thread starts with the first job; it ends when the object is gone and every job has
// run. Jobs do not throw. Thread-safe.
class Worker {
 public:
  Worker();
  ~Worker();
  // Throws std::system_error, and drops the job, when the thread cannot be started.
  void Run(std::function<void()> job);

 private:
  struct State {
    absl::Mutex mu;
    std::deque<std::function<void()>> jobs ABSL_GUARDED_BY(mu);
    bool running ABSL_GUARDED_BY(mu) = false;
    bool ending ABSL_GUARDED_BY(mu) = false;
  };
  static void Loop(const std::shared_ptr<State>& state);
  const std::shared_ptr<State> state_;
};

}  // namespace hlod::pjrt
