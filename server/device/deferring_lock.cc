// The work that a DeferringLock does after the release.
#include "server/device/deferring_lock.h"

#include <spdlog/spdlog.h>

namespace hlod::device {
namespace {

// An exception (no memory) must not leave a destructor, and must not keep the other callbacks from being
// called.
template <typename F>
void Guarded(const F& call) {
  try {
    call();
  } catch (const std::exception& e) {
    spdlog::error("An answer of a session failed: {}", e.what());
  }
}

}  // namespace

DeferringLock::~DeferringLock() {
  mutex_->Unlock();
  discarded_.clear();
  for (auto& [done, answer] : answers_) Guarded([&done = done, &answer = answer] { done(answer); });
  for (const std::function<void()>& call : calls_) Guarded(call);
  Guarded([this] { RunReady(ready_tasks_); });
}

}  // namespace hlod::device
