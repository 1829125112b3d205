// The interface between the group machine and the launches that a daemon runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/hlod/v1/peer.pb.h"

namespace hlod::fabric {

// The parts of launches on this daemon, and the ends of those that it leads. Its functions may not call the
// machine before they return.
class Work {
 public:
  virtual ~Work() = default;
  // Begins to take what this daemon's part needs. Group::OnPrepared must be called with the number of this
  // attempt when it has all of it, or an error, which refuses the launch everywhere; not after Release.
  virtual void Prepare(const v1::PrepareLaunch& launch, uint64_t attempt) = 0;
  // Ends the attempt and gives back what it took: nothing has happened. The launch may be prepared again.
  virtual void Release(const v1::LaunchId& launch, const absl::Status& why) = 0;
  // Starts the part. Group::OnDone must be called when it has ended.
  virtual void Start(const v1::LaunchId& launch) = 0;
  // Ends a started part soon. Group::OnDone must still be called.
  virtual void Cancel(const v1::LaunchId& launch, const absl::Status& why) = 0;
  // A launch that this daemon leads has ended. If it has not started, its arguments are untouched on every
  // daemon.
  virtual void OnOver(uint64_t number, bool started, const absl::Status& status) = 0;
  // A launch that this daemon offered will not be.
  virtual void OnOfferRefused(uint64_t group, uint64_t sequence, const absl::Status& why) = 0;
};

// Sends to a member, which may be this daemon itself.
using Post = std::function<void(uint32_t rank, v1::PeerMessage message)>;
// Returns "n3 (rank 2)".
using NameOf = std::function<std::string(uint32_t rank)>;

struct LaunchLimits {
  // The time that a launch waits for a daemon that does not answer, or behind launches that do not start.
  int64_t prepare_wait_us = 30'000'000;
  // The launches of one leader that a daemon queues.
  size_t launches_per_leader_max = 256;
  // The number before that of the first launch: after a restart, other daemons may not be done with the old
  // ones.
  uint64_t launches_before = 0;
  // The time after which a launch that waits tells its leader for whom.
  int64_t tell_us = 1'000'000;
};

// Returns a step of a launch; `error` is its reason, or OK.
v1::PeerMessage MakeStep(const v1::LaunchId& launch, v1::LaunchStep::Kind kind,
                         const absl::Status& error = absl::OkStatus());
// Returns the error that a member sent, with a text of bounded length; never OK.
absl::Status ReasonOf(const v1::Error& error);
// Returns "launch 41 of n1 (rank 0)".
std::string Describe(const v1::LaunchId& launch, const NameOf& name_of);
// Returns "3.0 s".
std::string SecondsOf(int64_t us);

// INVALID_ARGUMENT unless the digest is one and the parts are of different daemons, in order, with devices.
absl::Status CheckParts(const std::string& digest,
                        const google::protobuf::RepeatedPtrField<v1::LaunchPart>& parts);

}  // namespace hlod::fabric
