// What a client gives its programs, and takes from them, while they run. Private to the session device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/device/deferring_lock.h"
#include "server/device/requests.h"
#include "server/device/session_state.h"
#include "server/device/violation.h"

namespace hlod::device {

class SessionDevice;

// Thread-safe, as far as it does not say otherwise.
class HostValues {
 public:
  // A member of `owner`, which commands under way keep alive.
  HostValues(SessionDevice& owner, SessionState& state) : owner_(owner), state_(state) {}

  // The value has its place in its channel at once, and is there when its buffers are: then `done` comes.
  // Until a program has taken it, what was sent later cannot consume the buffers.
  Violation Infeed(InfeedRequest request, Done done);
  // Defines handles, which get the channel's next value. `done` comes when it is there.
  Violation Outfeed(OutfeedRequest request, Done done);
  // For the session device. Nothing when there is none.
  void Cancel(uint64_t command, const absl::Status& cancelled, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // Drops them. None is answered.
  void Close(DeferringLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

 private:
  using Place = SessionChannels::Place;
  struct Giving;
  struct Taking;

  std::shared_ptr<HostValues> Self();
  absl::StatusOr<std::shared_ptr<Giving>> Bind(const InfeedRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  absl::Status Check(const OutfeedRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // The buffers of a value are settled.
  void Give(const std::shared_ptr<Giving>& giving);
  // Why one of them cannot be given, or OK.
  absl::Status CheckBuffers(const Giving& giving) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // A value has come.
  void Receive(const std::shared_ptr<Taking>& taking, SessionChannels::Value value);
  void Settle(Taking& taking, const absl::Status& status, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

  SessionDevice& owner_;
  SessionState& state_;
  // By command, until they are answered.
  absl::flat_hash_map<uint64_t, std::shared_ptr<Giving>> giving_ ABSL_GUARDED_BY(state_.mu);
  absl::flat_hash_map<uint64_t, std::shared_ptr<Taking>> taking_ ABSL_GUARDED_BY(state_.mu);
};

}  // namespace hlod::device
