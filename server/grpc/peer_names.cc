// Addresses in gRPC's spelling and without it.
#include "server/grpc/peer_names.h"

#include <netdb.h>
#include <sys/socket.h>

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "common/base/strings.h"

namespace hlod::grpc_server {
namespace {

struct Address {
  bool ipv6 = false;
  std::string host, port;
};

std::optional<Address> PeerOfSocket(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  char host[NI_MAXHOST], port[NI_MAXSERV];
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (getpeername(socket, generic, &size) != 0 ||
      getnameinfo(generic, size, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) !=
          0)
    return std::nullopt;
  return Address{address.ss_family == AF_INET6, host, port};
}

}  // namespace

std::string OwnerOfUser(uint32_t user) { return absl::StrCat("user ", user); }

std::string OwnerOfSocket(int socket) {
  const std::optional<Address> address = PeerOfSocket(socket);
  return absl::StrCat("host ", address.has_value() ? address->host : "unknown");
}

std::string PeerNameOfSocket(int socket) {
  const std::optional<Address> address = PeerOfSocket(socket);
  if (!address.has_value()) return "";
  if (!address->ipv6) return absl::StrCat("ipv4:", address->host, ":", address->port);
  return absl::StrCat("ipv6:%5B", absl::StrReplaceAll(address->host, {{"%", "%25"}}), "%5D:", address->port);
}

std::string OwnerOfPeerName(std::string_view name) {
  const size_t begin = name.find(':') + 1, end = name.rfind(':');
  const std::string_view host = end > begin ? name.substr(begin, end - begin) : name;
  return absl::StrCat("host ", absl::StrReplaceAll(ToAbsl(host), {{"%5B", ""}, {"%5D", ""}, {"%25", "%"}}));
}

}  // namespace hlod::grpc_server
