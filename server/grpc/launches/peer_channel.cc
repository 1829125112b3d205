// Channels and checks of certificates.
#include "server/grpc/launches/peer_channel.h"

#include <fcntl.h>
#include <grpc/grpc_security_constants.h>  // tidy: names of properties.
#include <grpcpp/create_channel.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/security/credentials.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
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

namespace {

// Connects to an abstract address, and checks who listens there: another user could have taken the name of a
// daemon that has ended.
absl::StatusOr<rpc::Descriptor> ConnectAbstract(const rpc::Endpoint& address) {
  rpc::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const rpc::UnixAddress bytes = rpc::ToUnixAddress(address.path);
  if (!socket.valid() || connect(socket.get(), bytes.get(), bytes.size) != 0)
    return Unavailable("No daemon answers at %s: %s.", rpc::ToString(address), std::strerror(errno));
  ASSIGN_OR_RETURN(const rpc::PeerCredentials listener, rpc::ReadPeerCredentials(socket.get()));
  if (listener.uid == geteuid()) return socket;
  return MakeError(ErrorKind::kAuth,
                   absl::StrFormat("User %d listens at %s; the daemons there are of one user (%d).",
                                   listener.uid, rpc::ToString(address), geteuid()));
}

}  // namespace

bool PeerChannel::broken() const {
  pollfd polled{watched_.get(), POLLRDHUP, 0};
  return watched_.valid() && poll(&polled, 1, 0) > 0;
}

absl::StatusOr<PeerChannel> PeerChannel::To(const rpc::Endpoint& address,
                                            const PeerCredentials& credentials) {
  PeerChannel made;
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kPeerMessageBytesMax);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // Proxies are for the web, not for daemons of a cluster.
  if (address.IsAbstract()) {
    ASSIGN_OR_RETURN(rpc::Descriptor socket, ConnectAbstract(address));
    made.watched_ = rpc::Descriptor(fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
    made.channel_ = grpc::CreateCustomInsecureChannelFromFd("hlod", socket.Release(), arguments);
    return made;
  }
  std::shared_ptr<grpc::ChannelCredentials> channel = grpc::InsecureChannelCredentials();
  if (!credentials.certificate.empty()) {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = credentials.authority;
    tls.pem_cert_chain = credentials.certificate;
    tls.pem_private_key = credentials.key;
    channel = grpc::SslCredentials(tls);
  }
  const bool bare = address.host.find(':') == std::string::npos;
  made.channel_ = grpc::CreateCustomChannel(
      absl::StrCat("dns:///", bare ? address.host : absl::StrCat("[", address.host, "]"), ":", address.port),
      channel, arguments);
  return made;
}

}  // namespace hlod::grpc_server
