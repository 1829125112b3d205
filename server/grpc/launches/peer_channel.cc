// Channels and checks of certificates.
#include "server/grpc/launches/peer_channel.h"

#include <grpc/grpc_security_constants.h>  // tidy: names of properties.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/errors/error.h"
#include "common/base/text/strings.h"
#include "common/rpc/credentials.h"

namespace hlod::grpc_server {

absl::Status CheckPeerMessage(size_t bytes) {
  if (bytes <= kPeerMessageBytesMax) return absl::OkStatus();
  return MakeError(ErrorKind::kLimit,
                   absl::StrFormat("A message between daemons has %d bytes; the limit is %d.", bytes,
                                   kPeerMessageBytesMax));
}

absl::Status CheckDaemon(const grpc::AuthContext& peer, const std::string& cluster,
                         const std::string& daemon) {
  const std::string prefix = rpc::DaemonUriPrefix(cluster);
  std::vector<std::string> uris;
  for (const grpc::string_ref& uri : peer.FindPropertyValues(GRPC_PEER_URI_PROPERTY_NAME)) {
    uris.emplace_back(uri.data(), uri.size());
    if (daemon.empty() ? uris.back().starts_with(prefix) : uris.back() == prefix + daemon)
      return absl::OkStatus();
  }
  return MakeError(
      ErrorKind::kAuth,
      absl::StrFormat("The certificate of %s does not name it as one of cluster \"%s\": it needs the URI "
                      "%s%s, and has %s.",
                      daemon.empty() ? "the caller" : absl::StrCat("daemon \"", daemon, "\""), cluster,
                      prefix, daemon.empty() ? "NAME" : daemon,
                      uris.empty() ? "none" : absl::StrJoin(uris, ", ")));
}

std::shared_ptr<grpc::Channel> ChannelTo(const rpc::Endpoint& address, const PeerCredentials& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kPeerMessageBytesMax);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // Proxies are for the web, not for daemons of a cluster.
  std::shared_ptr<grpc::ChannelCredentials> channel = grpc::InsecureChannelCredentials();
  if (!credentials.certificate.empty()) {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = credentials.authority;
    tls.pem_cert_chain = credentials.certificate;
    tls.pem_private_key = credentials.key;
    channel = grpc::SslCredentials(tls);
  }
  const bool bare = address.host.find(':') == std::string::npos;
  return grpc::CreateCustomChannel(
      absl::StrCat("dns:///", bare ? address.host : absl::StrCat("[", address.host, "]"), ":", address.port),
      channel, arguments);
}

}  // namespace hlod::grpc_server
