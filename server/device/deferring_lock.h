// A scoped lock that collects work which must not be done while the lock is held, and does it after the
// release.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/system/mutex.h"
#include "server/device/execution/task.h"

namespace hlod::device {

// The callback that answers a command.
using Done = std::function<void(const absl::Status&)>;

// Holds a mutex. Callbacks may call the object that the mutex guards, and destructors may take the mutex or
// run long. The destructor therefore unlocks first, then destroys the discarded values, then calls the
// callbacks, then runs the ready tasks. A client that is notified of the end of a command finds its memory
// already released.
class ABSL_SCOPED_LOCKABLE DeferringLock {
 public:
  explicit DeferringLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex_->Lock(); }
  ~DeferringLock() ABSL_UNLOCK_FUNCTION();
  DeferringLock(const DeferringLock&) = delete;
  DeferringLock& operator=(const DeferringLock&) = delete;

  // Destroys `value` after the unlock.
  template <typename T>
  void Discard(std::shared_ptr<T> value) {
    if (value != nullptr) discarded_.push_back(std::move(value));
  }
  template <typename T>
  void Discard(T value) {
    discarded_.push_back(std::make_shared<T>(std::move(value)));
  }
  // Answers a command after the unlock. Ignores a null `done`.
  void Answer(Done done, absl::Status answer) {
    if (done != nullptr) answers_.emplace_back(std::move(done), std::move(answer));
  }
  // Calls `call` after the unlock and after the answers.
  void Call(std::function<void()> call) { calls_.push_back(std::move(call)); }
  // The tasks to run after everything else.
  ReadyTasks& ready_tasks() { return ready_tasks_; }

 private:
  Mutex* const mutex_;
  std::vector<std::shared_ptr<const void>> discarded_;
  std::vector<std::pair<Done, absl::Status>> answers_;
  std::vector<std::function<void()>> calls_;
  ReadyTasks ready_tasks_;
};

}  // namespace hlod::device
