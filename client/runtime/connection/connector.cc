// Connects sockets and passes them to gRPC, because this distinguishes at once a daemon that is not there
// from one that cannot be reached.
#include "client/runtime/connection/connector.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <sys/socket.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "client/runtime/connection/dial.h"
#include "client/runtime/connection/grpc_pipe.h"
#include "client/runtime/connection/process.h"
#include "common/base/errors/status.h"
#include "common/rpc/credentials.h"
#include "common/rpc/shared_memory.h"
#include "common/rpc/socket_address.h"

namespace hlod::runtime {
namespace {

constexpr int kMessageBytesMax = 64 << 20;  // The limit on a received message; a ledger may have many lines.
// The time after which a bulk stream that moves no chunk is aborted.
constexpr absl::Duration kBulkSilence = absl::Minutes(2);

// Calls NoticeSilence for gRPC's socket of a TLS connection. gRPC does not expose that socket, so this
// searches the descriptors of this process by the address that `probe` is connected to.
void NoticeSilenceOfPeer(int probe) {
  sockaddr_storage peer = {};
  socklen_t peer_size = sizeof(peer);
  if (getpeername(probe, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) return;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    sockaddr_storage other = {};
    socklen_t size = sizeof(other);
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&other), &size) != 0) continue;
    if (size == peer_size && std::memcmp(&other, &peer, size) == 0) NoticeSilence(fd);
  }
}

// Returns gRPC's name of the address that `socket` is connected to: "ipv4:10.0.0.1:9000",
// "ipv6:%5B::1%5D:9000", where the brackets are escaped, as is the % of a scope.
absl::StatusOr<std::string> TargetOf(int socket) {
  const absl::StatusOr<rpc::Endpoint> peer = rpc::PeerOf(socket);
  if (!peer.ok()) return Unavailable("The connection ended at once.");
  if (peer->host.find(':') == std::string::npos) return absl::StrCat("ipv4:", peer->host, ":", peer->port);
  return absl::StrCat("ipv6:%5B", absl::StrReplaceAll(peer->host, {{"%", "%25"}}), "%5D:", peer->port);
}

grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  arguments.SetMaxSendMessageSize(-1);
  // Channels to one address must not share a connection: each session needs one.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // Makes gRPC set TCP_USER_TIMEOUT on its own connections, also on those that it makes by itself when the
  // first one broke; its own pings would come after 24 days.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, INT_MAX - 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(absl::ToInt64Milliseconds(kSilence)));
  return arguments;
}

bool IsSecure(const TlsOptions& tls) {
  return tls.enabled || !tls.root_certificates.empty() || !tls.certificate.empty();
}

// Returns the reason why a channel does not connect. Only a call reports it, so this makes one.
std::string ReasonOf(const std::shared_ptr<grpc::Channel>& channel) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(1)));
  grpc::ByteBuffer request, response;
  grpc::Status status;
  const auto call = stub.PrepareUnaryCall(&context, "/hlod.v1.Session/Connect", request, &queue);
  call->StartCall();
  call->Finish(&response, &status, nullptr);
  void* tag;
  bool ok;
  queue.Next(&tag, &ok);
  return status.error_message();
}

// Waits for a TLS connection; the first attempt that fails ends the wait, since the next would fail too.
absl::Status AwaitTls(const std::shared_ptr<grpc::Channel>& channel, const rpc::Endpoint& endpoint,
                      absl::Time deadline) {
  for (;;) {
    const grpc_connectivity_state state = channel->GetState(/*try_to_connect=*/true);
    if (state == GRPC_CHANNEL_READY) return absl::OkStatus();
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE) {
      return MakeError(ErrorKind::kAuth,
                       absl::StrFormat("No TLS connection to %s: it does not speak TLS, or one side does not "
                                       "trust the other's certificate (%s).",
                                       rpc::ToString(endpoint), ReasonOf(channel)));
    }
    if (!channel->WaitForStateChange(state, absl::ToChronoTime(deadline)))
      return DeadlineExceeded("The daemon at %s did not complete a TLS handshake in time.",
                              rpc::ToString(endpoint));
  }
}

class AddressConnector : public Connector {
 public:
  AddressConnector(const rpc::Endpoint& endpoint, const TlsOptions& tls, const std::string& token)
      : endpoint_(endpoint), tls_(tls), token_(token), address_(rpc::ToString(endpoint)) {}

  absl::StatusOr<std::shared_ptr<Pipe>> Connect(absl::Time deadline) override {
    ASSIGN_OR_RETURN(std::shared_ptr<grpc::Channel> channel, OpenChannel(endpoint_, tls_, token_, deadline));
    endpoint_.descriptor = -1;  // A descriptor connects only once.
    absl::MutexLock lock(&mu_);
    bulk_ = MakeGrpcBulk(channel, token_, may_stall() ? kBulkSilence : absl::InfiniteDuration());
    return OpenGrpcPipe(std::move(channel), token_, deadline);
  }
  absl::Status Explain(const absl::Status& status) override {
    return ExplainDropped(status, endpoint_, tls_);
  }
  std::shared_ptr<BulkChannel> bulk() override {
    absl::MutexLock lock(&mu_);
    return bulk_;
  }
  const std::string& address() const override { return address_; }
  bool may_stall() const override { return endpoint_.kind == rpc::Endpoint::Kind::kTcp; }
  bool local() const override {
    return endpoint_.kind != rpc::Endpoint::Kind::kTcp || endpoint_.IsLoopback();
  }

 private:
  rpc::Endpoint endpoint_;
  const TlsOptions tls_;
  const std::string token_, address_;
  absl::Mutex mu_;
  std::shared_ptr<BulkChannel> bulk_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel(const rpc::Endpoint& endpoint,
                                                           const TlsOptions& tls, const std::string& token,
                                                           absl::Time deadline) {
  if (!token.empty() && !IsSecure(tls) && endpoint.kind == rpc::Endpoint::Kind::kTcp &&
      !endpoint.IsLoopback()) {
    return InvalidArgument(
        "A token is not sent to %s without TLS, where others could read it: give the certificate to trust "
        "(ConnectOptions.tls; hloctl --tls-ca).",
        rpc::ToString(endpoint));
  }
  RETURN_IF_ERROR(ClaimGrpc());
  ASSIGN_OR_RETURN(rpc::Descriptor fd, Dial(endpoint, deadline));
  if (!IsSecure(tls)) return grpc::CreateCustomInsecureChannelFromFd("hlod", fd.Release(), Arguments());

  if (endpoint.kind != rpc::Endpoint::Kind::kTcp) {
    return InvalidArgument("TLS is for TCP addresses; %s is not one.", rpc::ToString(endpoint));
  }
  // gRPC makes its own connection here; `fd` has only shown that a program listens, and where: gRPC's
  // resolver would ask a name server about hosts that are in /etc/hosts, for seconds where none answers.
  ASSIGN_OR_RETURN(const std::string target, TargetOf(fd.get()));
  grpc::SslCredentialsOptions credentials;
  credentials.pem_root_certs = tls.root_certificates;
  credentials.pem_cert_chain = tls.certificate;
  credentials.pem_private_key = tls.key;
  grpc::ChannelArguments arguments = Arguments();
  arguments.SetSslTargetNameOverride(endpoint.host);  // The name that the certificate must have.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);    // The host has just been reached without one.
  std::shared_ptr<grpc::Channel> channel =
      grpc::CreateCustomChannel(target, grpc::SslCredentials(credentials), arguments);
  RETURN_IF_ERROR(AwaitTls(channel, endpoint, std::min(deadline, absl::Now() + absl::Seconds(60))));
  NoticeSilenceOfPeer(fd.get());
  return channel;
}

absl::Status NoAnswerWithin(absl::Duration limit) {
  return DeadlineExceeded(
      "The daemon took the connection and did not answer within %s (ConnectOptions::timeout): its process is "
      "stopped or stuck, or the machine is overloaded.",
      absl::FormatDuration(limit));
}

absl::Status ExplainDropped(const absl::Status& status, const rpc::Endpoint& endpoint,
                            const TlsOptions& tls) {
  if (status.code() != absl::StatusCode::kUnavailable || KindOf(status) != ErrorKind::kNone ||
      IsSecure(tls) || endpoint.kind != rpc::Endpoint::Kind::kTcp)
    return status;
  return Unavailable(
      "The daemon at %s dropped the connection without an answer (%s); if it asks for TLS, give the "
      "certificate to trust (hloctl --tls-ca, or $HLOD_TLS_CA beside $HLOD_ADDRESS).",
      rpc::ToString(endpoint), FromAbsl(status.message()).substr(0, status.message().find('\n')));
}

absl::Status CheckCredentials(const ConnectOptions& options) {
  const auto check = [](const char* name, const absl::Status& status) {
    return status.ok() ? status : InvalidArgument("%s: %s.", name, FromAbsl(status.message()));
  };
  const TlsOptions& tls = options.tls;
  if (!options.token.empty()) RETURN_IF_ERROR(check("token", rpc::CheckToken(options.token)));
  if (!tls.root_certificates.empty())
    RETURN_IF_ERROR(check("tls.root_certificates", rpc::CheckCertificates(tls.root_certificates)));
  if (tls.certificate.empty() != tls.key.empty())
    return InvalidArgument("tls.certificate and tls.key belong together.");
  if (!tls.certificate.empty()) {
    RETURN_IF_ERROR(check("tls.certificate", rpc::CheckCertificates(tls.certificate)));
    RETURN_IF_ERROR(check("tls.key", rpc::CheckKey(tls.key, tls.certificate)));
  }
  return absl::OkStatus();
}

std::unique_ptr<Connector> MakeConnector(const rpc::Endpoint& endpoint, const TlsOptions& tls,
                                         const std::string& token) {
  return std::make_unique<AddressConnector>(endpoint, tls, token);
}

}  // namespace hlod::runtime
