// A scoped lock that collects work which must not be done while the lock is held, and does it after the
// release.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/system/mutex.h"
#include "server/device/execution/task.h"
#include "server/device/failed_sessions.h"

namespace hlod::device {

// The callback that answers a command.
using Done = std::function<void(const absl::Status&)>;

// Holds a mutex. Callbacks may call the object that the mutex guards, and destructors may take the mutex or
// run long. The destructor therefore unlocks first, then destroys the discarded values, then calls the
// callbacks, then runs the ready tasks. A client that is notified of the end of a command finds its memory
// already released.
class ABSL_SCOPED_LOCKABLE DeferringLock {
 public:
  // `failed`, unless it is null, is set when an exception leaves the lock's scope or one of the callbacks: a
  // command may then never be answered, so its session must end.
  explicit DeferringLock(Mutex* mutex, const FailureMark* failed = nullptr)
      ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : mutex_(mutex), failed_(failed), exceptions_(std::uncaught_exceptions()) {
    mutex_->Lock();
  }
  ~DeferringLock() ABSL_UNLOCK_FUNCTION();
  DeferringLock(const DeferringLock&) = delete;
  DeferringLock& operator=(const DeferringLock&) = delete;

  // Destroys `value` after the unlock. Never throws: a value that was destroyed while an exception unwinds
  // the stack could take the mutex that is still held.
  template <typename T>
  void Discard(std::shared_ptr<T> value) noexcept {
    if (value != nullptr)
      Keep(new (Room(sizeof(Discarded<std::shared_ptr<T>>))) Discarded<std::shared_ptr<T>>(std::move(value)));
  }
  template <typename T>
  void Discard(T value) noexcept {
    Keep(new (Room(sizeof(Discarded<T>))) Discarded<T>(std::move(value)));
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
  struct Kept {
    virtual ~Kept() = default;
    Kept* next = nullptr;
  };
  template <typename T>
  struct Discarded : Kept {
    explicit Discarded(T v) : value(std::move(v)) {}
    const T value;
  };
  // Returns memory for a value, and waits until there is some.
  static void* Room(size_t bytes) noexcept;
  void Keep(Kept* kept) noexcept { last_discarded_ = &(*last_discarded_ = kept)->next; }
  template <typename F>
  void Guard(const F& call) const;

  Mutex* const mutex_;
  const FailureMark* const failed_;
  const int exceptions_;
  Kept* discarded_ = nullptr;
  Kept** last_discarded_ = &discarded_;
  std::vector<std::pair<Done, absl::Status>> answers_;
  std::vector<std::function<void()>> calls_;
  ReadyTasks ready_tasks_;
};

}  // namespace hlod::device
