// Whom connections belong to.
#pragma once

#include <cstdint>
#include <string>

namespace hlod::grpc_server {

// "user 1000".
std::string OwnerOfUser(uint32_t user);
// The owner of a TCP connection: "user 1000 over TCP" within this machine, else "host 10.1.2.3"; "host ::1"
// where the kernel does not say who it is, "host unknown" when it is closed.
std::string OwnerOfSocket(int socket);

}  // namespace hlod::grpc_server
