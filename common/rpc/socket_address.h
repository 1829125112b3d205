// Reads the addresses of a socket's two ends.
#pragma once

#include "absl/status/statusor.h"
#include "common/rpc/endpoint.h"

namespace hlod::rpc {

// Returns the address that `socket` is bound to; a TCP host is numeric ("127.0.0.1", "::1", "fe80::1%eth0").
// UNAVAILABLE for a descriptor that is not a socket, and for an address of another family.
absl::StatusOr<Endpoint> AddressOf(int socket);
// Returns the address of the other end of a connected socket, as AddressOf does. UNAVAILABLE if it is not
// connected (any more).
absl::StatusOr<Endpoint> PeerOf(int socket);

}  // namespace hlod::rpc
