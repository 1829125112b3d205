// The interface between the group machine and the launches that a daemon runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/hlod/v1/peer.pb.h"

namespace hlod::fabric {

// A user to whom memory is charged. One whom another daemon names has no more than that daemon has for all
// whom it names, and takes no memory of this daemon's own users.
struct Payer {
  std::string user;
  std::optional<uint32_t> rank = std::nullopt;  // The daemon that names the user; nullopt: this one.
  auto operator<=>(const Payer&) const = default;
};

// The parts of launches on this daemon, and the ends of those that it leads. Its functions may not call the
// machine before they return.
class Work {
 public:
  virtual ~Work() = default;
  // Begins to take what this daemon's part needs. Group::OnPrepared must be called with the number of this
  // attempt when it has all of it, or an error, which refuses the launch everywhere; not after Release.
  virtual void Prepare(const v1::PrepareLaunch& launch, uint64_t attempt) = 0;
  // Returns true if other clients' work, which the machine does not know, waits for devices that the launch
  // holds here.
  virtual bool IsWanted(const v1::LaunchId&) { return false; }
  // Ends the attempt and gives back what it took: nothing has happened. The launch may be prepared again.
  virtual void Release(const v1::LaunchId& launch, const absl::Status& why) = 0;
  // Starts the part. Group::OnDone must be called when it has ended.
  virtual void Start(const v1::LaunchId& launch) = 0;
  // Ends a started part soon. Group::OnDone must still be called.
  virtual void Cancel(const v1::LaunchId& launch, const absl::Status& why) = 0;
  // A launch that this daemon leads has ended. If it has not started, its arguments are untouched on every
  // daemon.
  virtual void OnOver(uint64_t number, bool started, const absl::Status& status) = 0;
  // A launch that this daemon offered will not be. `launch` is the one that was to be prepared here; without
  // a number if the leader refused the offer before.
  virtual void OnOfferRefused(uint64_t group, uint64_t sequence, const v1::LaunchId& launch,
                              const absl::Status& why) = 0;
  // Charges to a user the memory of an offer that waits here, at its leader, for those of other daemons, or
  // of one that takes an offer back and waits for its way to the leader, until Discharge. An error: the user
  // has no room.
  virtual absl::Status Charge(const Payer&, int64_t) { return absl::OkStatus(); }
  virtual void Discharge(const Payer&, int64_t) {}
};

// The latest ticket that is believed when another daemon states it.
inline constexpr uint64_t kTicketMax = uint64_t{1} << 62;

// The least time that a launch is charged for: also an empty one, or one that is refused while it is
// prepared, takes messages, and turns on its devices.
inline constexpr uint64_t kLaunchMinUs = 1'000;

// Sends to a member, which may be this daemon itself.
using Post = std::function<void(uint32_t rank, v1::PeerMessage message)>;
// Returns "n3 (rank 2)".
using NameOf = std::function<std::string(uint32_t rank)>;

struct LaunchLimits {
  // The time that a launch waits for a daemon that does not answer, or behind one that does not start.
  int64_t prepare_wait_us = 30'000'000;
  // The time that the parts of several processes wait for one another: one may load data or write a
  // checkpoint. A process that ends is not waited for.
  int64_t separate_wait_us = 1'800'000'000;
  // The most time between the first and the last part of an offered launch.
  int64_t OfferWaitUs(const v1::LaunchOffer& offer) const {
    return offer.separate() ? separate_wait_us : prepare_wait_us;
  }
  // The launches of one leader that a daemon queues. A leader begins no more of its own.
  size_t launches_per_leader_max = 1024;
  // The launches of one client, and of one user, that a leader has begun and that have not ended. The others
  // wait at their leader, where they hold nothing: a client may have as many in flight as it has commands. A
  // launch that waits so depends on no later one, so there is no circle.
  size_t begun_per_client_max = 16, begun_per_user_max = 64;
  // The launches that wait at their leader because not all daemons have offered their parts: of one client,
  // and of all clients of one daemon. A client sends the parts of a launch at once, so those of an honest one
  // differ by what one daemon has received before another: a thousand launches is what half a second of a
  // stream carries. When there is no room, the user with the most of them there loses the latest.
  size_t offers_per_client_max = 1024, offers_max = 4096;
  // The number before that of the first launch: after a restart, other daemons may not be done with the old
  // ones.
  uint64_t launches_before = 0;
  // The time after which a launch that waits tells its leader for whom.
  int64_t tell_us = 1'000'000;
  // True: launches of no group may take devices, as those of the simulation do. A daemon prepares such a
  // launch without the offer of a client, so another one could take all devices for nobody.
  bool unoffered_take_devices = false;
  // The time for which a launch may hold devices here while it waits for another daemon, if others want them:
  // twice as long each time that it has let them pass, so that it starts at last however long their work is.
  int64_t hold_us(uint32_t passes) const {
    constexpr uint32_t kDoublings = 10;
    return (prepare_wait_us / 2) << std::min(passes, kDoublings);
  }
};

// A launch to begin.
struct LaunchSpec {
  v1::PrepareLaunch prepare;  // Without launch and ticket.
  uint64_t session = 0;       // The client that pays for it: its group.
  std::string user;           // The user for whom that is counted.
  int64_t deadline_us = 0;    // The time at which it must have ended; 0: none.
};

// A launch that several processes offer: its group and its number there.
using LaunchKey = std::pair<uint64_t, uint64_t>;

// Counts the launches of clients (by group) and users.
class LaunchCounts {
 public:
  void Add(uint64_t group, const std::string& user);
  void Remove(uint64_t group, const std::string& user);
  size_t OfClient(uint64_t group) const;
  size_t OfUser(const std::string& user) const;
  size_t all() const { return all_; }
  // Returns the user who has the most; empty if there is none.
  std::string Largest() const { return by_count_.empty() ? "" : by_count_.rbegin()->second; }

 private:
  std::map<uint64_t, size_t> clients_;
  std::map<std::string, size_t> users_;
  std::set<std::pair<size_t, std::string>> by_count_;  // The same users.
  size_t all_ = 0;
};

// Returns an error as messages between daemons carry it: programs and clients choose parts of the texts, so
// they are clipped to a few KiB.
v1::Error ErrorFor(const absl::Status& error);
// Returns a step of a launch; `error` is its reason, or OK.
v1::PeerMessage MakeStep(const v1::LaunchId& launch, v1::LaunchStep::Kind kind,
                         const absl::Status& error = absl::OkStatus());
// Returns the answer to an offer of a launch that will not be.
v1::PeerMessage MakeOfferRefused(const LaunchKey& launch, const absl::Status& why);
// Returns the error that a member sent, with a text of bounded length; never OK.
absl::Status ReasonOf(const v1::Error& error);
// Returns "launch 41 of n1 (rank 0)".
std::string Describe(const v1::LaunchId& launch, const NameOf& name_of);
// Returns "3.0 s".
std::string SecondsOf(int64_t us);

// INVALID_ARGUMENT for a name that is longer than a daemon's may be: other daemons state it.
absl::Status CheckUser(const std::string& user);
bool SameParts(const google::protobuf::RepeatedPtrField<v1::LaunchPart>& a,
               const google::protobuf::RepeatedPtrField<v1::LaunchPart>& b);
// INVALID_ARGUMENT unless the digest is one and the parts are of different daemons, in order, with devices;
// without `offered` they need none.
absl::Status CheckParts(const std::string& digest,
                        const google::protobuf::RepeatedPtrField<v1::LaunchPart>& parts, bool offered);

}  // namespace hlod::fabric
