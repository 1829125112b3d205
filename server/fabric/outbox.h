// The offers of this daemon's clients on the way to their leaders. They wait here, and not in the channels to
// the leaders, so that a client that is fast holds up itself, and no message of others.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "proto/hlod/v1/peer.pb.h"
#include "server/fabric/work.h"

namespace hlod::fabric {

// Not thread-safe. An offer that waits is charged to its client's session with the execute that it is of.
// A message that takes an offer back outlives that execute, and is charged to its user.
class Outbox {
 public:
  // `work` must outlive the outbox.
  explicit Outbox(Work& work) : work_(work) {}
  Outbox(const Outbox&) = delete;
  // Adds an offer for a leader. It replaces an earlier one of the same launch that still waits: one that
  // takes it back, or follows on its announcement, says all. One that takes back is dropped if its user has
  // no room: the other daemons then wait for the part, as for that of a daemon that is slow.
  void Add(uint32_t rank, const v1::LaunchOffer& offer);
  // Takes the next offer for a leader. Clients take turns, and each one's lowest number is first.
  std::optional<v1::LaunchOffer> Next(uint32_t rank);
  // Forgets the offers for a leader that is gone.
  void Drop(uint32_t rank);
  // Returns the leaders for which offers wait.
  std::vector<uint32_t> ranks() const;
  bool empty() const { return lanes_.empty(); }

 private:
  struct Entry {
    v1::LaunchOffer offer;
    int64_t bytes = 0;  // Charged to the offer's user.
  };
  // The offers for a leader: by client (group) and sequence. None of the inner maps is empty.
  struct Lane {
    std::map<uint64_t, std::map<uint64_t, Entry>> clients;
    uint64_t last = 0;  // The client whose turn was last.
  };
  void Erase(std::map<uint32_t, Lane>::iterator lane, uint64_t client, uint64_t sequence);

  Work& work_;
  std::map<uint32_t, Lane> lanes_;
};

}  // namespace hlod::fabric
