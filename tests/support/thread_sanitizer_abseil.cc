// Shows Abseil's locks to ThreadSanitizer, in builds with it. Debian's Abseil was built without, so each
// correct use of absl::Mutex would be reported as a race. Every program of such a build has these
// definitions, which the dynamic linker prefers to the library's: they say what happens, and call the
// library.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/base/options.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

#define HLOD_STRING_OF(name) #name
#define HLOD_STRING(name) HLOD_STRING_OF(name)

namespace hlod {
namespace {

// True while this thread is inside a function of the library that these definitions have called: it may call
// another of them.
thread_local bool inside = false;

// Returns the library's function by its mangled name behind the namespace, of a const one with a K before it.
template <typename Result, typename... Args>
auto Library(const char* name, Result (*)(Args...)) {
  const std::string space = HLOD_STRING(ABSL_OPTION_INLINE_NAMESPACE_NAME);
  const std::string symbol = (*name == 'K' ? "_ZNK4absl" : "_ZN4absl") + std::to_string(space.size()) +
                             space + (name + (*name == 'K'));
  void* const found = dlsym(RTLD_NEXT, symbol.c_str());
  if (found == nullptr) abort();
  return reinterpret_cast<Result (*)(Args...)>(found);
}

// A call that locks. ThreadSanitizer ignores what the thread does in between.
class Locking {
 public:
  explicit Locking(absl::Mutex* mutex, unsigned flags = 0)
      : mutex_(mutex), flags_(flags), outermost_(!std::exchange(inside, true)) {
    if (outermost_) __tsan_mutex_pre_lock(mutex_, flags_);
  }
  ~Locking() {
    if (!outermost_) return;
    __tsan_mutex_post_lock(mutex_, flags_, 0);
    inside = false;
  }
  void Failed() { flags_ |= __tsan_mutex_try_lock_failed; }

 private:
  absl::Mutex* const mutex_;
  unsigned flags_;
  const bool outermost_;
};

class Unlocking {
 public:
  explicit Unlocking(absl::Mutex* mutex, unsigned flags = 0)
      : mutex_(mutex), flags_(flags), outermost_(!std::exchange(inside, true)) {
    if (outermost_) __tsan_mutex_pre_unlock(mutex_, flags_);
  }
  ~Unlocking() {
    if (!outermost_) return;
    __tsan_mutex_post_unlock(mutex_, flags_);
    inside = false;
  }

 private:
  absl::Mutex* const mutex_;
  const unsigned flags_;
  const bool outermost_;
};

// A call that unlocks, waits and locks again.
class Waiting {
 public:
  explicit Waiting(absl::Mutex* mutex) : locking_(Unlocked(mutex)) {}

 private:
  static absl::Mutex* Unlocked(absl::Mutex* mutex) {
    const Unlocking unlocking(mutex);
    return mutex;
  }
  Locking locking_;
};

}  // namespace
}  // namespace hlod

namespace absl {
ABSL_NAMESPACE_BEGIN

using hlod::Library;
using hlod::Locking;
using hlod::Unlocking;
using hlod::Waiting;

Mutex::~Mutex() {
  static const auto destroy = Library(
      "5MutexD1Ev", +[](Mutex*) {});
  __tsan_mutex_destroy(this, __tsan_mutex_not_static);
  destroy(this);
}

void Mutex::Lock() {
  static const auto call = Library(
      "5Mutex4LockEv", +[](Mutex*) {});
  const Locking guard(this);
  call(this);
}

bool Mutex::TryLock() {
  static const auto call = Library(
      "5Mutex7TryLockEv", +[](Mutex*) { return true; });
  Locking guard(this, __tsan_mutex_try_lock);
  const bool locked = call(this);
  if (!locked) guard.Failed();
  return locked;
}

void Mutex::Unlock() {
  static const auto call = Library(
      "5Mutex6UnlockEv", +[](Mutex*) {});
  const Unlocking guard(this);
  call(this);
}

void Mutex::LockWhen(const Condition& condition) {
  static const auto call = Library(
      "5Mutex8LockWhenERKNS0_9ConditionE", +[](Mutex*, const Condition&) {});
  const Locking guard(this);
  call(this, condition);
}

bool Mutex::LockWhenWithTimeout(const Condition& condition, Duration timeout) {
  static const auto call = Library(
      "5Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE",
      +[](Mutex*, const Condition&, Duration) { return true; });
  const Locking guard(this);
  return call(this, condition, timeout);
}

bool Mutex::LockWhenWithDeadline(const Condition& condition, Time deadline) {
  static const auto call = Library(
      "5Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE",
      +[](Mutex*, const Condition&, Time) { return true; });
  const Locking guard(this);
  return call(this, condition, deadline);
}

void Mutex::ReaderLock() {
  static const auto call = Library(
      "5Mutex10ReaderLockEv", +[](Mutex*) {});
  const Locking guard(this, __tsan_mutex_read_lock);
  call(this);
}

bool Mutex::ReaderTryLock() {
  static const auto call = Library(
      "5Mutex13ReaderTryLockEv", +[](Mutex*) { return true; });
  Locking guard(this, __tsan_mutex_try_lock | __tsan_mutex_read_lock);
  const bool locked = call(this);
  if (!locked) guard.Failed();
  return locked;
}

void Mutex::ReaderUnlock() {
  static const auto call = Library(
      "5Mutex12ReaderUnlockEv", +[](Mutex*) {});
  const Unlocking guard(this, __tsan_mutex_read_lock);
  call(this);
}

void Mutex::ReaderLockWhen(const Condition& condition) {
  static const auto call = Library(
      "5Mutex14ReaderLockWhenERKNS0_9ConditionE", +[](Mutex*, const Condition&) {});
  const Locking guard(this, __tsan_mutex_read_lock);
  call(this, condition);
}

bool Mutex::ReaderLockWhenWithTimeout(const Condition& condition, Duration timeout) {
  static const auto call = Library(
      "5Mutex25ReaderLockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE",
      +[](Mutex*, const Condition&, Duration) { return true; });
  const Locking guard(this, __tsan_mutex_read_lock);
  return call(this, condition, timeout);
}

bool Mutex::ReaderLockWhenWithDeadline(const Condition& condition, Time deadline) {
  static const auto call = Library(
      "5Mutex26ReaderLockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE",
      +[](Mutex*, const Condition&, Time) { return true; });
  const Locking guard(this, __tsan_mutex_read_lock);
  return call(this, condition, deadline);
}

// The callers hold the lock for writing: the client has no readers.
void Mutex::Await(const Condition& condition) {
  static const auto call = Library(
      "5Mutex5AwaitERKNS0_9ConditionE", +[](Mutex*, const Condition&) {});
  const Waiting guard(this);
  call(this, condition);
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  static const auto call = Library(
      "5Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE",
      +[](Mutex*, const Condition&, Duration) { return true; });
  const Waiting guard(this);
  return call(this, condition, timeout);
}

bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  static const auto call = Library(
      "5Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE",
      +[](Mutex*, const Condition&, Time) { return true; });
  const Waiting guard(this);
  return call(this, condition, deadline);
}

void CondVar::Wait(Mutex* mutex) {
  static const auto call = Library(
      "7CondVar4WaitEPNS0_5MutexE", +[](CondVar*, Mutex*) {});
  const Waiting guard(mutex);
  call(this, mutex);
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  static const auto call = Library(
      "7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE",
      +[](CondVar*, Mutex*, Duration) { return true; });
  const Waiting guard(mutex);
  return call(this, mutex, timeout);
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  static const auto call = Library(
      "7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE", +[](CondVar*, Mutex*, Time) { return true; });
  const Waiting guard(mutex);
  return call(this, mutex, deadline);
}

// A notification that has come already is seen without its lock.
void Notification::Notify() {
  static const auto call = Library(
      "12Notification6NotifyEv", +[](Notification*) {});
  __tsan_release(this);
  call(this);
}

void Notification::WaitForNotification() const {
  static const auto call = Library(
      "K12Notification19WaitForNotificationEv", +[](const Notification*) {});
  call(this);
  __tsan_acquire(const_cast<Notification*>(this));
}

bool Notification::WaitForNotificationWithTimeout(Duration timeout) const {
  static const auto call = Library(
      "K12Notification30WaitForNotificationWithTimeoutENS0_8DurationE",
      +[](const Notification*, Duration) { return true; });
  const bool notified = call(this, timeout);
  if (notified) __tsan_acquire(const_cast<Notification*>(this));
  return notified;
}

bool Notification::WaitForNotificationWithDeadline(Time deadline) const {
  static const auto call = Library(
      "K12Notification31WaitForNotificationWithDeadlineENS0_4TimeE",
      +[](const Notification*, Time) { return true; });
  const bool notified = call(this, deadline);
  if (notified) __tsan_acquire(const_cast<Notification*>(this));
  return notified;
}

ABSL_NAMESPACE_END
}  // namespace absl
