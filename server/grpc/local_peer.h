// The user at the other end of a TCP connection within this machine.
#pragma once

#include <cstdint>
#include <optional>

namespace hlod::grpc_server {

// Returns the user who opened the other end of a connection over the loopback interface, as the kernel
// reports it. Returns nullopt for any other connection, for one that its peer has begun to close, and when
// the kernel does not report the user.
std::optional<uint32_t> UserOfLocalPeer(int socket);

}  // namespace hlod::grpc_server
