// The channels of one run on a device, as its steps use them.
#pragma once

#include "common/hlo/collectives/channels.h"
#include "server/device/memory/device_memory.h"
#include "server/device/session_state.h"

namespace hlod::device {

// A value that a program sends occupies the device's memory, charged to the session, until it is received.
class RunChannels final : public hlo::Channels {
 public:
  // `execution` is the running command; `own` is true when it has channels of its own. `alone` is true when
  // it runs on this device only. Other executes may use the device while it waits for its client; a
  // participant that waits for another one keeps its device.
  RunChannels(SessionState& state, uint32_t device, uint64_t execution, bool own, bool alone)
      : state_(state), device_(device), execution_(execution), own_(own), alone_(alone) {}

  absl::Status Put(const hlo::Channel& channel, absl::Span<const hlo::Shape> shapes,
                   absl::Span<const std::byte* const> arrays, Stop stop) override;
  absl::Status Take(const hlo::Channel& channel, absl::Span<const hlo::Shape> shapes,
                    absl::Span<std::byte* const> arrays, Stop stop) override;

 private:
  SessionChannels::QueueKey QueueKeyOf(const hlo::Channel& channel) const;
  bool WaitsForClient(const hlo::Channel& channel) const;

  SessionState& state_;
  const uint32_t device_;
  const uint64_t execution_;
  const bool own_, alone_;
};

}  // namespace hlod::device
