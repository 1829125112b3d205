// The places at which the private daemons of a group meet: abstract addresses, so all processes are of one
// user on one machine. The address is not a secret: daemons ask the kernel for the user at the other end of
// each connection. So who can read the group's store can neither join the cluster nor take a daemon's name.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace hlod::runtime {

// The name of the cluster of private daemons.
inline constexpr char kPrivateCluster[] = "private";

struct PrivatePlace {
  std::string address;  // "unix:@hlod-5d0c..."
  std::string machine;  // The machine as far as abstract addresses reach, and the user.
};

// Returns a new address on this machine.
PrivatePlace PlaceOnThisMachine();
// Write, and read, what process 0 tells of its daemon, which other private daemons join. Reading fails with
// FAILED_PRECONDITION unless process 0 has a private daemon that `place` reaches.
std::string WriteCoordinator(const PrivatePlace& place);
absl::StatusOr<std::string> CoordinatorFor(const PrivatePlace& place, const std::string& text);

}  // namespace hlod::runtime
