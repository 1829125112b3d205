// When memory that nobody uses any more goes back to the kernel. The daemon keeps what it has touched,
// because a first touch costs more than a copy; but what ended sessions leave behind may be all of a
// machine's memory.
#pragma once

#include <functional>

#include "absl/time/time.h"

namespace hlod::session {

// Not thread-safe. Owns no memory and reads no clock.
class MemoryReturn {
 public:
  // Between two returns of the heap for the sake of ended sessions: a client that opens and closes sessions
  // without end does not have others' pages touched anew as often.
  static constexpr absl::Duration kBetween = absl::Seconds(2);
  // How long nothing has to run, or no session to be there, for memory to go back without an end.
  static constexpr absl::Duration kIdle = absl::Seconds(10);

  // `heap` gives back what is free of the daemon's heap, `pool` what is free of the devices' memory.
  MemoryReturn(std::function<void()> heap, std::function<void()> pool)
      : heap_(std::move(heap)), pool_(std::move(pool)) {}

  // To be called a few times a second.
  // - ended: a session's last work has ended since the last call.
  // - busy: something runs or waits.
  // - alone: no session is there.
  void Tick(absl::Time now, bool ended, bool busy, bool alone);

 private:
  // A condition that has to hold for kIdle; true once when it has.
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
