// The work that a DeferringLock does after the release.
#include "server/device/deferring_lock.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <new>
#include <thread>

namespace hlod::device {

// Values are discarded where half of the work is done, and no error could undo it. A few bytes are soon free
// again: a thread that was refused a large block gives back what it has.
void* DeferringLock::Room(size_t bytes) noexcept {
  for (;;) {
    if (void* const memory = ::operator new(bytes, std::nothrow)) return memory;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// An exception (no memory) must not leave a destructor, and must not keep the other callbacks from being
// called.
template <typename F>
void DeferringLock::Guard(const F& call) const {
  try {
    call();
  } catch (const std::exception& e) {
    if (failed_ != nullptr) failed_->Set();
    spdlog::error("An answer of a session failed: {}", e.what());
  }
}

DeferringLock::~DeferringLock() {
  mutex_->Unlock();
  if (failed_ != nullptr && std::uncaught_exceptions() > exceptions_) failed_->Set();
  for (Kept* kept = discarded_; kept != nullptr;) delete std::exchange(kept, kept->next);
  for (auto& [done, answer] : answers_) Guard([&done = done, &answer = answer] { done(answer); });
  for (const std::function<void()>& call : calls_) Guard(call);
  Guard([this] { RunReady(ready_tasks_, failed_); });
}

}  // namespace hlod::device
