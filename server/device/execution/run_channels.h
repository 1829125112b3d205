// The channels of one run on a device, as its steps see them.
#pragma once

#include "common/hlo/collectives/channels.h"
#include "server/device/memory/device_memory.h"
#include "server/device/session_state.h"

namespace hlod::device {

// What a program puts lies in the device's memory, charged to the session, until it is taken.
class RunChannels final : public hlo::Channels {
 public:
  // `execution`: the command that runs. `alone`: on this device only, which it then leaves to others while it
  // waits.
  RunChannels(SessionState& state, uint32_t device, uint64_t execution, bool alone)
      : state_(state), device_(device), execution_(execution), alone_(alone) {}

  absl::Status Put(const hlo::Channel& channel, absl::Span<const hlo::Shape> shapes,
                   absl::Span<const std::byte* const> arrays, Stop stop) override;
  absl::Status Take(const hlo::Channel& channel, absl::Span<const hlo::Shape> shapes,
                    absl::Span<std::byte* const> arrays, Stop stop) override;

 private:
  SessionChannels::Place PlaceOf(const hlo::Channel& channel) const;

  SessionState& state_;
  const uint32_t device_;
  const uint64_t execution_;
  const bool alone_;
};

}  // namespace hlod::device
