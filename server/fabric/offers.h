// Launches that several processes offer, each to its own daemon: the daemon with the lowest rank compares the
// offers before anything starts.
//
// Only the offer that this daemon's own session makes says which daemons have a part in a launch, and for
// which user it is counted: others may know the group, because a pass was shown to them. So what they say is
// kept until the own offer comes, and then counts only if they have a part in it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/sha256.h"
#include "server/fabric/refusals.h"
#include "server/fabric/work.h"

namespace hlod::fabric {

// The offers at the daemon that leads their groups. Not thread-safe.
class Offers {
 public:
  // `self` returns the rank of this daemon.
  Offers(const LaunchLimits& limits, Work& work, std::function<uint32_t()> self, Post post, NameOf name_of)
      : limits_(limits),
        work_(work),
        self_(std::move(self)),
        post_(std::move(post)),
        name_of_(std::move(name_of)),
        refusals_(limits.offers_max) {}

  // Takes the offer of a daemon. Returns the launch when it was the last one that is due. If it differs from
  // this daemon's own one, or takes an offer back, or is beyond the limits, all are refused for this reason,
  // also those that come later. An error: the daemon broke the protocol.
  absl::StatusOr<std::optional<LaunchSpec>> Take(uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us);
  void OnGone(uint32_t rank, const absl::Status& why, int64_t now_us);
  void Tick(int64_t now_us);
  size_t size() const { return waiting_.size(); }

 private:
  using Key = LaunchKey;
  // The last word of a daemon about a launch.
  struct Said {
    enum class Kind { kComing, kOffered, kTakenBack } kind = Kind::kComing;
    std::string digest;  // The program's.
    Digest parts{};      // The key of its variant.
    absl::Status why;    // With kTakenBack.
  };
  // The parts of a launch as some daemons state them.
  struct Variant {
    std::vector<uint32_t> ranks;  // Ascending.
    std::string payer;
    int64_t bytes = 0;  // Charged to the payer.
  };
  struct Waiting {
    std::optional<v1::LaunchOffer> own;  // This daemon's, which may only be coming.
    std::map<uint32_t, Said> said;       // By rank, also this daemon's.
    std::map<Digest, Variant> variants;
    // The number of parts of `own` that are offered.
    int offered = 0;
    bool begun = false;  // There is an offer; until then parts are only coming, or are taken back.
    // The daemon whose user it is counted for: this one as soon as it has said something.
    uint32_t rank = 0;
    std::string user;
    uint64_t turn = 0;  // Counts the launches in the order in which they came.
    int64_t since_us = 0;
  };
  using Launches = std::map<Key, Waiting>;
  // Returns true if a part is coming or is offered.
  static bool IsToCome(const Waiting& waiting);
  // Count a launch for a user, and the reverse.
  void Count(const Key& key, Waiting& waiting, uint32_t rank, const std::string& user);
  void Uncount(const Key& key, const Waiting& waiting);
  // Notes the parts that an offer states, and charges them to its user. The own ones replace those that
  // others state. An error: the user has no room.
  absl::Status AddVariant(Waiting& waiting, uint32_t rank, const v1::LaunchOffer& offer, const Digest& parts);
  // Drops the parts that the daemon has stated before, unless others state them, too.
  void DropVariant(Waiting& waiting, uint32_t rank);
  void Discharge(Waiting& waiting);
  void Erase(Launches::iterator waiting);

  // Returns the launch of an offer, which may be its first. Without room it refuses the offer, and returns
  // the end.
  Launches::iterator Open(const Key& key, uint32_t rank, const v1::LaunchOffer& offer, const Digest& parts,
                          int64_t now_us);
  // Returns an error if a client has too many launches.
  absl::Status CheckClient(uint32_t rank, const v1::LaunchOffer& offer) const;
  // Returns an error if the offer's client or user has too many launches. Makes room for all if need be, at
  // the cost of the user who has the most, on the daemon that has the most.
  absl::Status MakeRoom(uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us);
  void TakeBack(const Key& key, uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us);
  // Notes what a daemon says of a launch. An error: it has offered the launch already.
  static absl::Status Hear(Waiting& waiting, uint32_t rank, const v1::LaunchOffer& offer,
                           const Digest& parts);
  absl::StatusOr<std::optional<LaunchSpec>> TakeOwn(Launches::iterator waiting, const v1::LaunchOffer& offer,
                                                    const Digest& parts, int64_t now_us);
  absl::StatusOr<std::optional<LaunchSpec>> TakeOther(Launches::iterator waiting, uint32_t rank,
                                                      const v1::LaunchOffer& offer, const Digest& parts,
                                                      int64_t now_us);
  // Refuses the own offer of a launch that daemons with parts in it were refused, or take back, and what has
  // come of it. Returns false if those have no part in it.
  bool TakeOwnLate(const Key& key, Refusal refused, const v1::LaunchOffer& offer, int64_t now_us);
  // Refuses an offer of a launch that was refused before. Returns false if it was not.
  bool TakeLate(const Key& key, uint32_t rank, const v1::LaunchOffer& offer, int64_t now_us);
  // Compares what a daemon has said with the own offer, and counts it if it is an offer of the same launch,
  // so it is called once per word; forgets it if the daemon has no part. Returns false if it refused the
  // launch.
  bool Compare(Launches::iterator waiting, uint32_t rank, int64_t now_us);
  // Returns the launch if all parts are offered.
  std::optional<LaunchSpec> Complete(Launches::iterator waiting);

  // Refuses a launch: all that have offered it, and those that come late.
  void Refuse(Launches::iterator waiting, const absl::Status& why, int64_t now_us);
  void Refuse(uint32_t rank, const Key& key, const absl::Status& why);
  // Refuses the first offer of a launch, unless it takes the launch back, and all that come late.
  void RefuseFirst(const Key& key, uint32_t rank, const v1::LaunchOffer& offer, const absl::Status& why,
                   int64_t now_us);
  // Refuses a launch that has waited too long. Returns false if it may wait further.
  bool TickWaiting(Launches::iterator waiting, int64_t now_us);

  uint32_t self() const { return self_(); }

  const LaunchLimits limits_;
  Work& work_;
  const std::function<uint32_t()> self_;
  const Post post_;
  const NameOf name_of_;
  uint64_t last_turn_ = 0;
  Launches waiting_;
  std::map<uint32_t, LaunchCounts> counts_;  // By Waiting::rank.
  std::map<std::tuple<uint32_t, std::string, uint64_t>, Key> turns_;
  Refusals refusals_;
};

}  // namespace hlod::fabric
