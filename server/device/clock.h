// A source of the current time, passed as a parameter so that tests of leases and waits can control it.
#pragma once

#include <chrono>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace hlod {

class Clock {
 public:
  virtual ~Clock() = default;
  // Returns the wall-clock time at the first call plus the steady time since then, so that setting the system
  // clock does not end leases.
  virtual absl::Time Now() const {
    using Steady = std::chrono::steady_clock;
    static const absl::Time start = absl::Now();
    static const Steady::time_point steady_start = Steady::now();
    return start + absl::FromChrono(Steady::now() - steady_start);
  }
};

}  // namespace hlod
