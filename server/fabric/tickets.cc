// Tickets by time used.
#include "server/fabric/tickets.h"

#include <algorithm>

namespace hlod::fabric {

uint64_t Tickets::Next(uint64_t session, uint64_t used_us) {
  uint64_t& last = last_[session];
  if (used_us > 0) ended_ = std::max(ended_, last);
  last = std::max(ended_, last) + std::clamp<uint64_t>(used_us, 1, kUsedMax);
  const uint64_t ticket = last;
  if (last_.size() > kSessionsMax) {
    // Sessions that paused would get what a new session gets.
    for (auto row = last_.begin(); row != last_.end();) {
      const auto next = std::next(row);
      if (row->first != session && (row->second <= ended_ || last_.size() > 2 * kSessionsMax))
        last_.erase(row);
      row = next;
    }
  }
  return ticket;
}

}  // namespace hlod::fabric
