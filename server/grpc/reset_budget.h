// Limits how many calls the clients of a server may open and reset: kAtOnce at first, then kPerSecond. A
// reset call is not counted in the streams of its connection, so HTTP/2 alone does not limit them.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace hlod::grpc_server {

// Not thread-safe.
class ResetBudget {
 public:
  static constexpr double kAtOnce = 1024;
  static constexpr double kPerSecond = 50;
  // The number of further resets until Spend reports again that the budget is exhausted.
  static constexpr double kAgain = 10;

  // Records that a call was reset. Returns false when the budget is exhausted.
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
