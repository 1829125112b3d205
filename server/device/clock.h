// The time, as a parameter: leases and waits are tested with a clock that the test turns.
#pragma once

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace hlod {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time Now() const { return absl::Now(); }
};

}  // namespace hlod
