// The sessions that cannot go on: a step of theirs ended with an exception, for want of memory, so that a
// command might never be answered. The registry ends them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "common/base/system/mutex.h"

namespace hlod::device {

// Thread-safe. Adding needs no memory.
class FailedSessions {
 public:
  // `most` is the number of sessions that may be open.
  explicit FailedSessions(int64_t most) { ids_.reserve(static_cast<size_t>(most)); }

  void Add(uint64_t session) noexcept {
    MutexLock lock(&mu_);
    any_ = true;
    if (std::find(ids_.begin(), ids_.end(), session) != ids_.end()) return;
    if (ids_.size() < ids_.capacity()) ids_.push_back(session);
  }
  // Returns true if some session has failed, and asks for a look at every open one.
  bool any() const { return any_; }
  bool Contains(uint64_t session) const {
    MutexLock lock(&mu_);
    return std::find(ids_.begin(), ids_.end(), session) != ids_.end();
  }
  // Forgets a session that has ended.
  void Remove(uint64_t session) noexcept {
    if (!any_) return;
    MutexLock lock(&mu_);
    std::erase(ids_, session);
    any_ = !ids_.empty();
  }

 private:
  mutable Mutex mu_;
  std::vector<uint64_t> ids_ ABSL_GUARDED_BY(mu_);
  std::atomic<bool> any_{false};
};

// Marks one session as failed.
class FailureMark {
 public:
  FailureMark(FailedSessions& failed, uint64_t session) : failed_(failed), session_(session) {}
  void Set() const noexcept { failed_.Add(session_); }

 private:
  FailedSessions& failed_;
  const uint64_t session_;
};

}  // namespace hlod::device
