// The sessions of groups that have ended, as the daemons say that had them: launches of several processes do
// not wait for their parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "absl/status/status.h"

namespace hlod::fabric {

// Not thread-safe.
class Departures {
 public:
  // Remembers that a daemon has no session of the group any more, and will have none: a process that comes
  // back begins or joins another group. Of each daemon only the latest are kept, so what one says makes no
  // other one's forgotten; also those of a daemon that is gone, which may only have been silent.
  void Note(uint32_t rank, uint64_t group);
  bool Has(uint32_t rank, uint64_t group) const;

  // A client can begin and end many sessions.
  static constexpr size_t kGroupsMax = 4096;

 private:
  std::map<uint32_t, std::deque<uint64_t>> groups_;  // By rank, the oldest first.
};

// Returns the error of a launch in which a process had a part whose session has ended; `daemon` had it.
absl::Status ProcessHasEnded(const std::string& daemon);

}  // namespace hlod::fabric
