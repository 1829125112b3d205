// The facts that a daemon states in its Welcome. They do not change while a session lasts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/limits.h"
#include "hlod/runtime/types.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::runtime {

struct DaemonFacts {
  std::string name;      // The daemon's name and version, for people.
  uint32_t version = 0;  // The protocol version that the daemon chose.
  uint64_t epoch = 0;    // Changes with every start of the daemon.
  Limits limits;
  std::vector<DeviceInfo> devices;
  // The daemon's cluster, with the other members; without a name when it is a member of none.
  v1::ClusterInfo cluster;
  v1::Arena arena;  // The shared memory that the daemon offers; without a socket when it offers none.
};

// Reads the facts. Fails with kind version when this client does not speak the protocol version, or could
// send nothing within the limits.
absl::StatusOr<DaemonFacts> ReadFacts(const v1::Welcome& welcome);

}  // namespace hlod::runtime
