// Returns memory on two occasions: after sessions have ended, and when the daemon is idle.
#include "server/session/memory_return.h"

namespace hlod::session {

bool MemoryReturn::Calm::Reached(bool holds, absl::Time now) {
  if (!holds) {
    *this = Calm();
    return false;
  }
  if (since == absl::InfiniteFuture()) since = now;
  if (done || now - since < kIdle) return false;
  return done = true;
}

void MemoryReturn::Tick(absl::Time now, bool ended, bool busy, bool alone) {
  due_ = due_ || ended;
  const bool idle = idle_.Reached(!busy, now);
  if (alone_.Reached(alone && !busy, now)) pool_();
  if (!idle && (!due_ || now - last_ < kBetween)) return;
  heap_();
  due_ = false;
  last_ = now;
}

}  // namespace hlod::session
