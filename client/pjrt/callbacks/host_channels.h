// The channels by which a program exchanges values with the host while it runs.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod::pjrt {

// Maps a channel_id to the shape of each value of the channel.
struct HostChannels {
  std::map<int64_t, hlo::Shape> to_host, from_host;
  // Channels of values that belong to one device by the program's annotations. Each participant of such a
  // program computes the same, so the callback is made for the first one, and its results are for all.
  std::set<int64_t> once;
  bool empty() const { return to_host.empty() && from_host.empty(); }
};

// Returns the channels of the module's sends to the host and recvs from it. UNIMPLEMENTED for a value of
// several arrays: frameworks send one array at a time.
absl::StatusOr<HostChannels> HostChannelsOf(const hlo::Module& module);

}  // namespace hlod::pjrt
