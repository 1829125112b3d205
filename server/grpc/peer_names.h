// The owners for whom connections are counted.
#pragma once

#include <cstdint>
#include <string>

namespace hlod::grpc_server {

// Returns "user 1000".
std::string OwnerOfUser(uint32_t user);
// Returns the owner of a TCP connection: "user 1000 over TCP" within this machine, otherwise "host 10.1.2.3";
// "host ::1" if the kernel does not report the user, "host unknown" if it is closed.
std::string OwnerOfSocket(int socket);

}  // namespace hlod::grpc_server
