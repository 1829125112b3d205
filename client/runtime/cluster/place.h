// The place of a session's daemon in its cluster, and what follows from it: which session has a device.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace hlod::runtime {

class Daemons;
class Session;

struct Place {
  std::shared_ptr<Daemons> daemons;  // Null without a cluster.
  int first_device = 0;              // The client's number of the daemon's first device.
  int devices = 0;                   // The daemon's own; Session::daemon().devices has those of all daemons.

  // Returns the number by which the daemon knows a device of its own.
  uint32_t OrdinalOf(int device) const { return static_cast<uint32_t>(device - first_device); }
};

// Returns the session with the daemon that owns the device: `session`, unless the device is of another daemon
// of the cluster (Daemons::Owner).
absl::StatusOr<std::shared_ptr<Session>> SessionWith(const std::shared_ptr<Session>& session, int device);
// Returns the client's own session: `session`, unless that is with another daemon of the cluster.
std::shared_ptr<Session> HomeOf(const std::shared_ptr<Session>& session);
// Returns true if both are sessions of one client.
bool AreOfOneClient(const Session& a, const Session& b);

}  // namespace hlod::runtime
