// The order of launches: the coordinator gives earlier tickets to sessions that have used less time.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace hlod::fabric {

// Start-time fair queueing: a session's ticket is its last one plus the time it has used since, but not
// before the tickets of launches that have ended, so that a pause earns nothing.
class Tickets {
 public:
  uint64_t Next(uint64_t session, uint64_t used_us);

 private:
  static constexpr uint64_t kUsedMax = uint64_t{3600} * 1'000'000;
  static constexpr size_t kSessionsMax = 4096;
  uint64_t ended_ = 0;  // The latest ticket of which the launch is known to have ended.
  absl::flat_hash_map<uint64_t, uint64_t> last_;
};

}  // namespace hlod::fabric
