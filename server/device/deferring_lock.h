// A scoped lock that gathers what must not happen while it is held, and does it after the lock is released.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/system/mutex.h"
#include "server/device/execution/task.h"

namespace hlod::device {

// How a command is answered.
using Done = std::function<void(const absl::Status&)>;

// Callbacks may call the object that is locked, and destructors may take its lock or long. The destructor
// releases the lock, then destroys what was discarded, then calls the callbacks, then runs the ready tasks: a
// client that hears of the end of a command finds its memory given back.
class ABSL_SCOPED_LOCKABLE DeferringLock {
 public:
  explicit DeferringLock(Mutex* mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) { mutex_->Lock(); }
  ~DeferringLock() ABSL_UNLOCK_FUNCTION();
  DeferringLock(const DeferringLock&) = delete;
  DeferringLock& operator=(const DeferringLock&) = delete;

  // Destroys `value` later.
  template <typename T>
  void Discard(std::shared_ptr<T> value) {
    if (value != nullptr) discarded_.push_back(std::move(value));
  }
  template <typename T>
  void Discard(T value) {
    discarded_.push_back(std::make_shared<T>(std::move(value)));
  }
  // Answers a command later; a null `done` is none.
  void Answer(Done done, absl::Status answer) {
    if (done != nullptr) answers_.emplace_back(std::move(done), std::move(answer));
  }
  // Calls back later, after the answers.
  void Call(std::function<void()> call) { calls_.push_back(std::move(call)); }
  // Tasks that run last.
  ReadyTasks& ready_tasks() { return ready_tasks_; }

 private:
  Mutex* const mutex_;
  std::vector<std::shared_ptr<const void>> discarded_;
  std::vector<std::pair<Done, absl::Status>> answers_;
  std::vector<std::function<void()>> calls_;
  ReadyTasks ready_tasks_;
};

}  // namespace hlod::device
