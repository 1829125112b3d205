// Addresses with and without gRPC's notation.
#include "server/grpc/peer_names.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "common/rpc/socket_address.h"
#include "server/grpc/local_peer.h"

namespace hlod::grpc_server {
std::string OwnerOfUser(uint32_t user) { return absl::StrCat("user ", user); }

std::string OwnerOfSocket(int socket) {
  if (const std::optional<uint32_t> user = UserOfLocalPeer(socket); user.has_value())
    return absl::StrCat(OwnerOfUser(*user), " over TCP");
  const absl::StatusOr<rpc::Endpoint> peer = rpc::PeerOf(socket);
  return absl::StrCat("host ", peer.ok() ? peer->host : "unknown");
}

}  // namespace hlod::grpc_server
