// The way to another daemon of the cluster: addresses, credentials, and the role that certificates give.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/auth_context.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/rpc/endpoint.h"
#include "common/rpc/shared_memory.h"
#include "server/fabric/channel.h"

namespace hlod::grpc_server {

// The most bytes of a message between daemons.
inline constexpr int kPeerMessageBytesMax = static_cast<int>(fabric::Channel::kMessageBytesMax);

// Returns an error (kind limit) for a message of more bytes.
absl::Status CheckPeerMessage(size_t bytes);

// The credentials of calls that this daemon makes; PEM texts.
struct PeerCredentials {
  std::string certificate, key, authority;  // Empty: without TLS.
  std::string token;
};

// Returns an error unless the other side of a TLS connection is a daemon of the cluster by its certificate,
// with the name `daemon` (any if empty). Its certificate is known to be of the cluster's authority.
absl::Status CheckDaemon(const grpc::AuthContext& peer, const std::string& cluster,
                         const std::string& daemon);

// A channel of its own to another daemon.
class PeerChannel {
 public:
  // A channel to a TCP address connects when it is used, and again when it breaks. One to an abstract address
  // is a single connection, made now, because only its socket tells who listens: fails with kind auth if that
  // is another user, and with UNAVAILABLE if nobody listens.
  static absl::StatusOr<PeerChannel> To(const rpc::Endpoint& address, const PeerCredentials& credentials);

  const std::shared_ptr<grpc::Channel>& get() const { return channel_; }
  // Returns true when the connection has ended and the channel makes no other.
  bool broken() const;

 private:
  std::shared_ptr<grpc::Channel> channel_;
  rpc::Descriptor watched_;  // A duplicate of the single connection's socket.
};

}  // namespace hlod::grpc_server
