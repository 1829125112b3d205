// Reads what getsockname and getpeername write as the addresses that users type.
#include "common/rpc/socket_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/base/errors/status.h"

namespace hlod::rpc {
namespace {

// Reads an address that getsockname or getpeername has written for `socket`.
absl::StatusOr<Endpoint> ToEndpoint(int socket, const sockaddr_storage& address, socklen_t size) {
  Endpoint endpoint;
  if (address.ss_family == AF_UNIX) {
    const char* const path = reinterpret_cast<const sockaddr_un&>(address).sun_path;
    const size_t length = size - offsetof(sockaddr_un, sun_path);
    const bool is_abstract = length > 1 && path[0] == '\0';
    endpoint.path = is_abstract ? "@" + std::string(path + 1, length - 1) : std::string(path);
    return endpoint;
  }
  endpoint.kind = Endpoint::Kind::kTcp;
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof(host), port, sizeof(port),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return Unavailable("The address of descriptor %d cannot be read.", socket);
  }
  endpoint.host = host;
  endpoint.port = std::atoi(port);
  return endpoint;
}

}  // namespace

absl::StatusOr<Endpoint> AddressOf(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return Unavailable("Descriptor %d is not a socket: %s.", socket, std::strerror(errno));
  return ToEndpoint(socket, address, size);
}

absl::StatusOr<Endpoint> PeerOf(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return Unavailable("Descriptor %d is not connected: %s.", socket, std::strerror(errno));
  return ToEndpoint(socket, address, size);
}

}  // namespace hlod::rpc
