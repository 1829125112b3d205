// Decides when unused memory is returned to the kernel. The daemon keeps memory that it has touched, because
// a first touch costs more than a copy; but ended sessions may leave the daemon with all of a machine's
// memory.
#pragma once

#include <functional>

#include "absl/time/time.h"

namespace hlod::session {

// Not thread-safe. Does not own memory or read a clock.
class MemoryReturn {
 public:
  // The least time between two returns of the heap because of ended sessions, so that a client that keeps
  // opening and closing sessions does not force others to touch their pages anew each time.
  static constexpr absl::Duration kBetween = absl::Seconds(2);
  // The time without running work, or without any session, after which memory is returned although no session
  // has ended.
  static constexpr absl::Duration kIdle = absl::Seconds(10);

  // `heap` returns the free memory of the daemon's heap, `pool` that of the devices' memory.
  MemoryReturn(std::function<void()> heap, std::function<void()> pool)
      : heap_(std::move(heap)), pool_(std::move(pool)) {}

  // Must be called a few times a second.
  // - ended: a session's last work has ended since the last call.
  // - busy: work is running or waiting.
  // - alone: there is no session.
  void Tick(absl::Time now, bool ended, bool busy, bool alone);

 private:
  // A condition that must hold for kIdle. Reached returns true once when it has held that long.
  struct Calm {
    absl::Time since = absl::InfiniteFuture();
    bool done = false;
    bool Reached(bool holds, absl::Time now);
  };
  const std::function<void()> heap_, pool_;
  bool due_ = false;
  absl::Time last_ = absl::InfinitePast();
  Calm idle_, alone_;
};

}  // namespace hlod::session
