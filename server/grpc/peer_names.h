// Whom connections and calls belong to: the same owner, whether it is asked of a socket or of a call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hlod::grpc_server {

// "user 1000".
std::string OwnerOfUser(uint32_t user);
// The owner of a TCP connection: "host 10.1.2.3", "host ::1"; "host unknown" when it is closed.
std::string OwnerOfSocket(int socket);
// gRPC's name of a TCP connection's peer: "ipv4:10.1.2.3:5555", "ipv6:%5B::1%5D:5555"; empty when it is
// closed.
std::string PeerNameOfSocket(int socket);
// The owner of a peer that gRPC names so.
std::string OwnerOfPeerName(std::string_view name);

}  // namespace hlod::grpc_server
