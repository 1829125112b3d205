// How many calls the clients of a server may open and reset: a few at once, and then so many a second. A
// reset call does not count against the streams of its connection, so HTTP/2 alone does not bound them.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace hlod::grpc_server {

// Not thread-safe.
class ResetBudget {
 public:
  static constexpr double kAtOnce = 1024;
  static constexpr double kPerSecond = 50;
  // Further resets until Spend reports the next time that the budget is used up.
  static constexpr double kAgain = 10;

  // A call was reset. False: that was one too many.
  bool Spend(absl::Time now) {
    left_ = std::min(kAtOnce, left_ + kPerSecond * std::max(0.0, absl::ToDoubleSeconds(now - last_)));
    last_ = now;
    if (--left_ >= 0) return true;
    left_ = kAgain;
    return false;
  }

 private:
  double left_ = kAtOnce;
  absl::Time last_ = absl::InfinitePast();
};

}  // namespace hlod::grpc_server
