// The values that a client sends to its running programs, and receives from them. Private to SessionDevice.
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

// Thread-safe, except where noted.
class HostValues {
 public:
  // This object is a member of `owner`, which pending commands keep alive.
  HostValues(SessionDevice& owner, SessionState& state) : owner_(owner), state_(state) {}

  // Reserves the value's place in its channel at once. `done` is called when its buffers are settled and the
  // value is in the channel. Later commands cannot consume the buffers until a program has taken the value.
  Violation Infeed(InfeedRequest request, Done done);
  // Defines handles that receive the channel's next value. `done` is called when it has arrived.
  Violation Outfeed(OutfeedRequest request, Done done);
  // For SessionDevice. Has no effect if the command is not pending here.
  void Cancel(uint64_t command, const absl::Status& cancelled, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // Drops all commands without answering them.
  void Close(DeferringLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

  // Tells clang, which knows the state's mutex by another name where this is called, that it is held.
  void AssertHeld() const HLOD_ASSERTS_HELD(state_.mu) {}

 private:
  using QueueKey = SessionChannels::QueueKey;
  struct Giving;
  struct Taking;

  std::shared_ptr<HostValues> Self();
  absl::StatusOr<std::shared_ptr<Giving>> Bind(const InfeedRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  absl::Status Check(const OutfeedRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // Puts a value into its channel once its buffers are settled.
  void Give(const std::shared_ptr<Giving>& giving);
  // Returns an error when one of the buffers cannot be sent.
  absl::Status CheckBuffers(const Giving& giving) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // Handles a value that has arrived.
  void Receive(const std::shared_ptr<Taking>& taking, SessionChannels::Value value);
  void Settle(Taking& taking, const absl::Status& status, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

  SessionDevice& owner_;
  SessionState& state_;
  // The pending commands by id, until they are answered.
  absl::flat_hash_map<uint64_t, std::shared_ptr<Giving>> giving_ ABSL_GUARDED_BY(state_.mu);
  absl::flat_hash_map<uint64_t, std::shared_ptr<Taking>> taking_ ABSL_GUARDED_BY(state_.mu);
};

}  // namespace hlod::device
