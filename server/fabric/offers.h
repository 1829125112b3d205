// Launches that several processes offer, each to its own daemon: the daemon with the lowest rank compares the
// offers before anything starts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/fabric/crowd.h"
#include "server/fabric/departures.h"
#include "server/fabric/early_words.h"
#include "server/fabric/refusals.h"
#include "server/fabric/work.h"

namespace hlod::fabric {

// The offers at the daemon that leads their groups. Not thread-safe.
class Offers {
 public:
  // `self` returns the rank of this daemon.
  Offers(const LaunchLimits& limits, Work& work, const std::function<uint32_t()>& self, const Post& post,
         const NameOf& name_of)
      : limits_(limits),
        work_(work),
        self_(self),
        post_(post),
        name_of_(name_of),
        early_(limits, work, self, post, name_of),
        refusals_(limits.offers_max, post) {}

  // Takes the offer of a daemon. Returns the launch when it was the last one that is due. If it differs from
  // this daemon's own one, or takes an offer back, or is beyond the limits, all are refused for this reason,
  // also those that come later. An error: the daemon broke the protocol.
  absl::StatusOr<std::optional<LaunchSpec>> Take(uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us);
  void OnGone(uint32_t rank, const absl::Status& why, int64_t now_us);
  // The process of the group at a daemon has ended.
  void OnLeft(uint32_t rank, uint64_t group, int64_t now_us);
  void Tick(int64_t now_us);
  // Returns the number of launches that wait, and of words about others.
  size_t size() const { return waiting_.size() + early_.size(); }

 private:
  using Key = LaunchKey;
  struct Waiting {
    v1::LaunchOffer own;            // This daemon's, which may only be coming.
    std::map<uint32_t, Said> said;  // By rank, also this daemon's.
    int64_t bytes = 0;              // Charged to the user.
    int offered = 0;                // The number of parts of `own` that are offered.
    bool begun = false;             // There is an offer; until then parts are only coming.
    int64_t since_us = 0;
  };
  using Launches = std::map<Key, Waiting>;

  uint32_t self() const { return self_(); }
  // Returns the launch of an own offer, which may be its first word. Without room it refuses the offer, and
  // returns the end.
  Launches::iterator Open(const Key& key, const v1::LaunchOffer& offer, int64_t now_us);
  void Erase(Launches::iterator waiting);
  void TakeBack(const Key& key, uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us);
  // Notes what a daemon says of a launch. An error: it has offered the launch already.
  static absl::Status Hear(Waiting& waiting, uint32_t rank, const v1::LaunchOffer& offer);
  absl::StatusOr<std::optional<LaunchSpec>> TakeOwn(const Key& key, const v1::LaunchOffer& offer,
                                                    int64_t now_us);
  absl::StatusOr<std::optional<LaunchSpec>> TakeOther(Launches::iterator waiting, uint32_t rank,
                                                      const v1::LaunchOffer& offer, int64_t now_us);
  // Compares what a daemon has said with the own offer, and counts it if it is an offer of the same launch,
  // so it is called once per word; forgets it if the daemon has no part. Returns false if it refused the
  // launch.
  bool Compare(Launches::iterator waiting, uint32_t rank, int64_t now_us);
  // Notes the time from which the launch waits.
  static void Begin(Waiting& waiting, int64_t now_us);
  // Returns true for a launch of several processes that waits for the part of one that has ended.
  bool WaitsInVain(const Waiting& waiting, uint32_t rank) const;
  // Returns the launch if all parts are offered.
  std::optional<LaunchSpec> Complete(Launches::iterator waiting);

  // Refuses a launch: all that have offered it, and those that come late.
  void Refuse(Launches::iterator waiting, const absl::Status& why, int64_t now_us);
  void Refuse(const v1::LaunchOffer& own, const std::map<uint32_t, Said>& said, const absl::Status& why,
              int64_t now_us);
  // Refuses an offer of a daemon that has no part in the launch.
  void RefuseStranger(const Key& key, uint32_t rank);
  // Refuses a launch that has waited too long.
  void TickWaiting(Launches::iterator waiting, int64_t now_us);
  // Returns the error for a launch that waited for daemons.
  absl::Status TooLate(const Key& key, int64_t waited_us, const std::vector<uint32_t>& missing) const;

  const LaunchLimits limits_;
  Work& work_;
  const std::function<uint32_t()> self_;
  const Post post_;
  const NameOf name_of_;
  EarlyWords early_;
  Launches waiting_;  // Launches that the own session has offered, or announced.
  Crowd crowd_;       // The same.
  Refusals refusals_;
  Departures departures_;
};

}  // namespace hlod::fabric
