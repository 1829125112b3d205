// The offers of this daemon's clients on the way to their leaders. They wait here, and not in the channels to
// the leaders, so that a client that is fast holds up itself, and no message of others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "proto/hlod/v1/peer.pb.h"

namespace hlod::fabric {

// Not thread-safe. What waits is charged to the clients' sessions with the executes that it is of.
class Outbox {
 public:
  // Adds an offer for a leader. It replaces an earlier one of the same launch that still waits: one that
  // takes it back, or follows on its announcement, says all.
  void Add(uint32_t rank, const v1::LaunchOffer& offer);
  // Takes the next offer for a leader. Clients take turns, and each one's lowest number is first.
  std::optional<v1::LaunchOffer> Next(uint32_t rank);
  // Forgets the offers for a leader that is gone.
  void Drop(uint32_t rank) { lanes_.erase(rank); }
  // Returns the leaders for which offers wait.
  std::vector<uint32_t> ranks() const;
  bool empty() const { return lanes_.empty(); }

 private:
  // The offers for a leader: by client (group) and sequence. None of the inner maps is empty.
  struct Lane {
    std::map<uint64_t, std::map<uint64_t, v1::LaunchOffer>> clients;
    uint64_t last = 0;  // The client whose turn was last.
  };
  std::map<uint32_t, Lane> lanes_;
};

}  // namespace hlod::fabric
