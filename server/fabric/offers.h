// Launches that several processes offer, each to its own daemon: the daemon with the lowest rank compares the
// offers before anything starts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "server/fabric/work.h"

namespace hlod::fabric {

// The offers at the daemon that leads their groups. Not thread-safe.
class Offers {
 public:
  Offers(const LaunchLimits& limits, Work& work, Post post, NameOf name_of)
      : limits_(limits), work_(work), post_(std::move(post)), name_of_(std::move(name_of)) {}

  // Takes the offer of a daemon. Returns the launch when it was the last one that is due. If it differs from
  // the others, or takes an offer back, or is beyond the limits, all are refused for this reason, also those
  // that come later. An error: the daemon broke the protocol.
  absl::StatusOr<std::optional<LaunchSpec>> Take(uint32_t rank, uint32_t self, const v1::LaunchOffer& offer,
                                                 int64_t now_us);
  void OnGone(uint32_t rank, const absl::Status& why, int64_t now_us);
  void Tick(int64_t now_us);
  size_t size() const { return waiting_.size(); }

 private:
  using Key = std::pair<uint64_t, uint64_t>;  // Group and sequence.
  struct Waiting {
    v1::LaunchOffer first;
    uint32_t first_rank = 0;
    bool begun = false;                // There is a first offer; until then parts are only coming.
    std::map<uint32_t, bool> offered;  // By rank of the parts.
    std::set<uint32_t> coming;         // The ranks whose parts wait for their arguments.
    uint64_t turn = 0;                 // Counts the launches in the order in which they came.
    int64_t since_us = 0;
    int64_t bytes = 0;  // Charged to the user of `first`.
  };
  // The users' launches in the order in which they came.
  using Turns = std::map<std::pair<std::string, uint64_t>, Key>;
  // A launch that was refused before all had offered it: those that come late get the same reason.
  struct Refused {
    absl::Status why;
    std::string user;
    std::set<uint32_t> late;
    uint64_t turn = 0;
    int64_t since_us = 0;
  };
  // Keep what was first offered of a launch, and count and charge it; and the reverse. Keep fails, and keeps
  // nothing, if the user has no room.
  absl::Status Keep(const Key& key, Waiting& waiting, const v1::LaunchOffer& offer);
  void Drop(const Key& key, Waiting& waiting);
  // Returns the launch of an offer, which may be its first. Refuses it, and returns the end, if there are too
  // many.
  std::map<Key, Waiting>::iterator Open(const Key& key, uint32_t rank, uint32_t self,
                                        const v1::LaunchOffer& offer, int64_t now_us);
  // Returns an error if a client has no room for a further launch. Makes room at the cost of the user who has
  // the most.
  absl::Status MakeRoom(const v1::LaunchOffer& offer, uint32_t self, int64_t now_us);
  // Refuses an offer of a launch that was refused before. Returns false if it was not.
  bool TakeLate(const Key& key, uint32_t rank, const v1::LaunchOffer& offer);
  void Refuse(std::map<Key, Waiting>::iterator waiting, const absl::Status& why, int64_t now_us);
  // Remembers the refusal for those that come late.
  void Remember(const Key& key, Refused refused);
  void Forget(std::map<Key, Refused>::iterator refused);
  void Refuse(uint32_t rank, const v1::LaunchOffer& offer, const absl::Status& why);

  // Refuses the first offer of a launch, unless it takes the launch back, and all that come late.
  void RefuseFirst(const Key& key, uint32_t rank, const v1::LaunchOffer& offer, const absl::Status& why,
                   int64_t now_us);
  // Compares an offer with the first one. Returns the launch if it was the last one that is due.
  std::optional<LaunchSpec> Compare(std::map<Key, Waiting>::iterator waiting, uint32_t rank,
                                    const v1::LaunchOffer& offer, int64_t now_us);

  const LaunchLimits limits_;
  Work& work_;
  const Post post_;
  const NameOf name_of_;
  uint64_t last_turn_ = 0;
  std::map<Key, Waiting> waiting_;
  std::map<Key, Refused> refused_;
  Turns waiting_turns_, refused_turns_;
  LaunchCounts waiting_counts_, refused_counts_;
};

}  // namespace hlod::fabric
