// The time, as a parameter: leases and waits are tested with a clock that the test turns.
#pragma once

#include <chrono>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace hlod {

class Clock {
 public:
  virtual ~Clock() = default;
  // The wall clock's time at the start, and on from there steadily: somebody who sets the clock expires no
  // lease.
  virtual absl::Time Now() const {
    using Steady = std::chrono::steady_clock;
    static const absl::Time start = absl::Now();
    static const Steady::time_point steady_start = Steady::now();
    return start + absl::FromChrono(Steady::now() - steady_start);
  }
};

}  // namespace hlod
