// Who is at the other end of a TCP connection within this machine.
#pragma once

#include <cstdint>
#include <optional>

namespace hlod::grpc_server {

// Returns the user who opened the other end of a connection over the loopback interface, as the kernel knows
// it; nullopt for another connection, for one that its peer has begun to close, and where the kernel does not
// say.
std::optional<uint32_t> UserOfLocalPeer(int socket);

}  // namespace hlod::grpc_server
