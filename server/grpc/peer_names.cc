// Addresses with and without gRPC's notation.
#include "server/grpc/peer_names.h"

#include <netdb.h>
#include <sys/socket.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "server/grpc/local_peer.h"

namespace hlod::grpc_server {
namespace {

// Returns the numeric host at the other end.
std::optional<std::string> HostOfPeer(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  char host[NI_MAXHOST];
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (getpeername(socket, generic, &size) != 0 ||
      getnameinfo(generic, size, host, sizeof(host), nullptr, 0, NI_NUMERICHOST) != 0)
    return std::nullopt;
  return host;
}

}  // namespace

std::string OwnerOfUser(uint32_t user) { return absl::StrCat("user ", user); }

std::string OwnerOfSocket(int socket) {
  if (const std::optional<uint32_t> user = UserOfLocalPeer(socket); user.has_value())
    return absl::StrCat(OwnerOfUser(*user), " over TCP");
  return absl::StrCat("host ", HostOfPeer(socket).value_or("unknown"));
}

}  // namespace hlod::grpc_server
