// Starting and stopping what the daemon listens with.
#include "server/grpc/server.h"

#include <fcntl.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/status.h"
#include "server/grpc/peer_names.h"

namespace hlod::grpc_server {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);

// Plain TCP stays on this host: everybody else has to show something.
absl::Status CheckTcp(const rpc::Endpoint& endpoint, const ServerOptions& options) {
  if (endpoint.kind != rpc::Endpoint::Kind::kTcp) return absl::OkStatus();
  const bool tls = !options.tls_certificate.empty();
  if (!tls && !endpoint.IsLoopback()) {
    return InvalidArgument("Plain TCP is for the loopback interface only: %s needs --tls-cert and --tls-key.",
                           rpc::ToString(endpoint));
  }
  if (tls && options.tls_client_authority.empty() && options.token.empty()) {
    return InvalidArgument(
        "%s over TLS needs --tls-client-ca or --token-file: without them anybody could connect.",
        rpc::ToString(endpoint));
  }
  return absl::OkStatus();
}

std::shared_ptr<grpc::ServerCredentials> TlsCredentials(const ServerOptions& options) {
  if (options.tls_certificate.empty()) return nullptr;
  grpc::SslServerCredentialsOptions tls(options.tls_client_authority.empty()
                                            ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                            : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  tls.pem_root_certs = options.tls_client_authority;
  tls.pem_key_cert_pairs.push_back({options.tls_key, options.tls_certificate});
  return grpc::SslServerCredentials(tls);
}

}  // namespace

Server::Server(ServerOptions options, device::Devices& devices)
    : options_(std::move(options)), devices_(devices) {}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options, device::Devices& devices) {
  std::unique_ptr<Server> server(new Server(std::move(options), devices));
  const ServerOptions& o = server->options_;

  // Sockets first: a start that fails for one of them has changed nothing.
  std::vector<ListeningSocket> sockets;
  for (const rpc::Endpoint& endpoint : o.listen) {
    RETURN_IF_ERROR(CheckTcp(endpoint, o));
    ASSIGN_OR_RETURN(ListeningSocket socket, ListeningSocket::Open(endpoint));
    sockets.push_back(std::move(socket));
  }
  for (const int fd : o.inherited_listeners) {
    ASSIGN_OR_RETURN(ListeningSocket socket, ListeningSocket::Inherit(fd));
    RETURN_IF_ERROR(CheckTcp(socket.endpoint(), o));
    sockets.push_back(std::move(socket));
  }
  for (const ListeningSocket& socket : sockets) server->endpoints_.push_back(socket.endpoint());

  if (devices.limits().arena_bytes > 0) {
    absl::StatusOr<std::unique_ptr<ArenaServer>> arenas = ArenaServer::Create();
    if (arenas.ok()) {
      server->arenas_ = *std::move(arenas);
    } else {
      spdlog::warn("There are no shared arenas: {}", std::string(arenas.status().message()));
    }
  }
  server->processes_ = std::make_unique<session::WatchedProcesses>([server = server.get()](int64_t pid) {
    if (server->registry_ != nullptr) server->registry_->OnProcessEnded(pid);
  });
  session::Registry::Options registry;
  const rpc::Secret random = rpc::Secret::Random();
  std::memcpy(&registry.epoch, random.bytes().data(), sizeof(registry.epoch));
  registry.leases = o.inherited_connection < 0;
  registry.arena_socket = server->arenas_ != nullptr ? server->arenas_->name() : "";
  registry.daemon = absl::StrCat(o.version, " pid ", getpid());
  server->registry_ = std::make_unique<session::Registry>(devices, *server->processes_, std::move(registry));
  if (server->arenas_ != nullptr) server->arenas_->Start(*server->registry_);
  server->health_ = std::make_unique<Health>(*server->registry_);
  server->connections_ = std::make_unique<Connections>(
      Connections::Options{devices.limits().connections_per_user_max, o.tcp_silence});
  server->tcp_ =
      std::make_unique<GrpcServer>(*server->registry_, *server->health_,
                                   GrpcServer::Options{.name = "tcp",
                                                       .token = o.token,
                                                       .tls = TlsCredentials(o),
                                                       .greeting = o.greeting,
                                                       .received_bytes_max = o.received_bytes_max,
                                                       .close_resetting = server->CloserOfResetting()});
  server->local_ = std::make_unique<UserServers>(
      o.user_servers, *server->connections_,
      [server = server.get()](uint32_t user) { return server->MakeUserServer(user); });

  // Beyond this point clients come.
  if (o.inherited_connection >= 0)
    server->OnAccepted(ConnectedSocket(o.inherited_connection), rpc::Endpoint{});
  server->listener_ = std::make_unique<Listener>(
      std::move(sockets), o.tcp_silence,
      [server = server.get()](ConnectedSocket socket, const rpc::Endpoint& endpoint) {
        server->OnAccepted(std::move(socket), endpoint);
      });
  server->periodic_thread_ = std::thread([server = server.get()] { server->RunPeriodicChecks(); });
  pthread_setname_np(server->periodic_thread_.native_handle(), "periodic");
  return server;
}

Server::~Server() {
  if (listener_ != nullptr) listener_->Stop();
  stopping_ = true;
  if (periodic_thread_.joinable()) periodic_thread_.join();
  if (registry_ != nullptr) registry_->EndAll(MakeError(ErrorKind::kLostSession, "The daemon is ending."));
  if (local_ != nullptr) local_->Shutdown();
  if (tcp_ != nullptr) tcp_->Shutdown();
  // What ends sessions ends before the sessions' registry.
  arenas_.reset();
  processes_.reset();
}

void Server::OnAccepted(ConnectedSocket socket, const rpc::Endpoint& endpoint) {
  const int fd = socket.get();
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  const bool tcp = endpoint.kind == rpc::Endpoint::Kind::kTcp;
  const absl::StatusOr<rpc::PeerCredentials> peer =
      tcp ? rpc::PeerCredentials{} : rpc::ReadPeerCredentials(fd);
  if (!peer.ok() ||
      !connections_->Add(fd, tcp ? OwnerOfSocket(fd) : OwnerOfUser(peer->uid), tcp, peer->pid)) {
    return;
  }
  if (tcp) {
    return options_.tls_certificate.empty() ? tcp_->HandleConnection(std::move(socket))
                                            : tcp_->HandleTls(std::move(socket));
  }
  processes_->Add(fd, *peer);
  local_->HandleConnection(std::move(socket), peer->uid);
}

std::unique_ptr<GrpcServer> Server::MakeUserServer(uint32_t user) {
  return std::make_unique<GrpcServer>(*registry_, *health_,
                                      GrpcServer::Options{.name = OwnerOfUser(user),
                                                          .administration = user == 0 || user == geteuid(),
                                                          .user = user,
                                                          .greeting = options_.greeting,
                                                          .received_bytes_max = options_.received_bytes_max,
                                                          .close_resetting = CloserOfResetting()});
}

std::function<void(const session::Peer&)> Server::CloserOfResetting() {
  return [this](const session::Peer& peer) { connections_->CloseResetting(peer.owner, peer.description); };
}

void Server::RunPeriodicChecks() {
  while (!stopping_) {
    try {
      registry_->Tick();
      connections_->Tick();
      local_->Tick();
      DropUnusedProcesses();
      health_->Tick();
    } catch (const std::exception& e) {  // No memory; there may be some at the next turn.
      spdlog::error("The periodic checks failed: {}", e.what());
    }
    absl::SleepFor(kTick);
  }
}

void Server::DropUnusedProcesses() {
  absl::flat_hash_set<int64_t> in_use;
  connections_->AddProcesses(in_use);
  for (const std::shared_ptr<session::Session>& session : registry_->List())
    in_use.insert(session->identity().pid);
  processes_->DropUnused(in_use);
}

bool Server::Drain(absl::Duration at_most, const std::function<bool()>& give_up) {
  registry_->Drain();
  const absl::Time end = absl::Now() + at_most;
  while (registry_->busy() || devices_.queued() > 0) {
    if (absl::Now() >= end || give_up()) return false;
    absl::SleepFor(absl::Milliseconds(20));
  }
  return true;
}

}  // namespace hlod::grpc_server
