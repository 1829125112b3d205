// The way to another daemon of the cluster: addresses, credentials, and the role that certificates give.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/auth_context.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/rpc/endpoint.h"
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

// Returns a channel of its own, which connects when it is used.
std::shared_ptr<grpc::Channel> ChannelTo(const rpc::Endpoint& address, const PeerCredentials& credentials);

}  // namespace hlod::grpc_server
