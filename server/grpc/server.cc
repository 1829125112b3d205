// Starts and stops the parts on which the daemon listens.
#include "server/grpc/server.h"

#include <fcntl.h>
#include <grpc/grpc.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"
#include "server/grpc/peer_names.h"
#include "server/grpc/refusal.h"

namespace hlod::grpc_server {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(100);

// Returns an error for TCP that other hosts could reach without TLS, or over TLS without a client certificate
// or token.
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

// Opens the sockets to listen on, in the order of the options. Those with a file are opened last, because who
// finds the file may connect to the other addresses at once.
absl::StatusOr<std::vector<ListeningSocket>> OpenSockets(const ServerOptions& o) {
  std::vector<std::optional<ListeningSocket>> opened(o.listen.size());
  for (const bool has_file : {false, true}) {
    for (size_t i = 0; i < o.listen.size(); ++i) {
      if ((o.listen[i].kind == rpc::Endpoint::Kind::kUnix) != has_file) continue;
      RETURN_IF_ERROR(CheckTcp(o.listen[i], o));
      ASSIGN_OR_RETURN(ListeningSocket socket, ListeningSocket::Open(o.listen[i]));
      opened[i].emplace(std::move(socket));
    }
  }
  std::vector<ListeningSocket> sockets;
  for (std::optional<ListeningSocket>& socket : opened) sockets.push_back(*std::move(socket));
  for (const int fd : o.inherited_listeners) {
    ASSIGN_OR_RETURN(ListeningSocket socket, ListeningSocket::Inherit(fd));
    RETURN_IF_ERROR(CheckTcp(socket.endpoint(), o));
    sockets.push_back(std::move(socket));
  }
  return sockets;
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

// Returns options that limit the connections to the descriptors that the daemon may open. Each connection
// uses its socket, a duplicate, one that wakes its thread, and those of its process and its session's arena.
// A few are reserved for temporary use.
Connections::Options ConnectionOptions(const Limits& limits, absl::Duration tcp_silence) {
  constexpr int64_t kOfConnection = 5, kLeft = 8, kForAdministrators = 8;
  Connections::Options options{.per_owner_max = limits.connections_per_user_max, .tcp_silence = tcp_silence};
  rlimit files{};
  std::error_code error;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    const auto open = std::distance(std::filesystem::directory_iterator("/proc/self/fd", error),
                                    std::filesystem::directory_iterator());
    const int64_t free = static_cast<int64_t>(std::min<rlim_t>(files.rlim_cur, 1 << 20)) - open - kLeft;
    if (free / kOfConnection < options.most) {
      options.most = std::max<int64_t>(1, free / kOfConnection);
      options.who = absl::StrFormat("a daemon that may have %d files open (RLIMIT_NOFILE)", files.rlim_cur);
    }
  }
  options.for_administrators = std::min(kForAdministrators, options.most / 8);
  return options;
}

}  // namespace

Server::GrpcLibrary::GrpcLibrary() { grpc_init(); }
Server::GrpcLibrary::~GrpcLibrary() { grpc_shutdown(); }

Server::Server(ServerOptions options, device::Devices& devices)
    : options_(std::move(options)),
      received_(options_.received.value_or(ReceiveLimits::Of(devices.limits()))),
      devices_(devices) {}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options, device::Devices& devices) {
  std::unique_ptr<Server> server(new Server(std::move(options), devices));
  const ServerOptions& o = server->options_;

  // First, so that a start that fails for one of them has changed nothing.
  ASSIGN_OR_RETURN(std::vector<ListeningSocket> sockets, OpenSockets(o));
  for (const ListeningSocket& socket : sockets) server->endpoints_.push_back(socket.endpoint());

  if (devices.limits().arena_bytes > 0 || o.ring != rpc::RingUse::kOff) {
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
  registry.group_return = o.group_return;
  registry.arena_socket = server->arenas_ != nullptr ? server->arenas_->name() : "";
  registry.ring = o.ring;
  registry.daemon = absl::StrCat(o.version, " pid ", getpid());
  if (o.cluster.has_value()) RETURN_IF_ERROR(server->MakePeers(registry));
  server->registry_ = std::make_unique<session::Registry>(devices, *server->processes_, std::move(registry));
  if (server->arenas_ != nullptr) server->arenas_->Start(*server->registry_);
  server->health_ = std::make_unique<Health>(*server->registry_);
  server->connections_ = std::make_unique<Connections>(ConnectionOptions(devices.limits(), o.tcp_silence));
  server->tls_ = TlsCredentials(o);
  server->servers_ =
      std::make_unique<ConnectionServers>(*server->connections_, ConnectionServers::kEndingPerOwnerMax,
                                          [registry = server->registry_.get()] { registry->NoteFreed(); });

  // From here on clients may connect.
  if (o.inherited_connection >= 0)
    server->OnAccepted(ConnectedSocket(o.inherited_connection), rpc::Endpoint{});
  server->listener_ = std::make_unique<Listener>(
      std::move(sockets), o.tcp_silence,
      [server = server.get()](ConnectedSocket socket, const rpc::Endpoint& endpoint) {
        server->OnAccepted(std::move(socket), endpoint);
      });
  if (server->peers_ != nullptr) server->peers_->Start();
  server->periodic_thread_ = std::thread([server = server.get()] { server->RunPeriodicChecks(); });
  pthread_setname_np(server->periodic_thread_.native_handle(), "periodic");
  return server;
}

Server::~Server() {
  if (listener_ != nullptr) listener_->Stop();
  stopping_ = true;
  if (periodic_thread_.joinable()) periodic_thread_.join();
  if (peers_ != nullptr) peers_->Stop();
  if (registry_ != nullptr) registry_->EndAll(MakeError(ErrorKind::kLostSession, "The daemon is ending."));
  if (servers_ != nullptr) servers_->Shutdown();
  // The users of the sessions' registry end before it.
  arenas_.reset();
  processes_.reset();
}

absl::Status Server::MakePeers(session::Registry::Options& registry) {
  // The others' addresses are like the one to join.
  const bool is_abstract = options_.cluster->join.starts_with("unix:@");
  auto found = std::ranges::find_if(endpoints_, [&](const rpc::Endpoint& endpoint) {
    return is_abstract ? endpoint.IsAbstract() : endpoint.kind == rpc::Endpoint::Kind::kTcp;
  });
  if (found == endpoints_.end() && options_.cluster->join.empty())
    found = std::ranges::find_if(endpoints_, &rpc::Endpoint::IsAbstract);
  if (found == endpoints_.end()) {
    return InvalidArgument(
        "--cluster needs --listen %s: the address at which the other daemons reach this one.",
        is_abstract ? "unix:@NAME" : "tcp:HOST:PORT");
  }
  rpc::Endpoint address = *found;
  // The wildcard is not an address that others could call.
  if (address.host == "0.0.0.0" || address.host == "::" || address.host.empty()) {
    char name[256] = {};
    gethostname(name, sizeof(name) - 1);
    address.host = name;
  }
  std::string told = options_.cluster->address;
  if (told.empty()) told = rpc::ToString(address);
  peers_ = std::make_unique<PeerLinks>(*options_.cluster,
                                       PeerCredentials{options_.tls_certificate, options_.tls_key,
                                                       options_.tls_client_authority, options_.token},
                                       options_.version, told, registry.epoch, devices_);
  registry.admit_client = [peers = peers_.get()](const std::string& pass, const std::string& owner) {
    return peers->AdmitClient(pass, owner);
  };
  registry.add_cluster = [peers = peers_.get()](v1::Welcome& welcome, const device::LaunchClient& client) {
    peers->AddCluster(welcome, client);
  };
  return absl::OkStatus();
}

void Server::OnAccepted(ConnectedSocket socket, const rpc::Endpoint& endpoint) {
  const int fd = socket.get();
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  const bool tcp = endpoint.kind == rpc::Endpoint::Kind::kTcp;
  std::optional<uint32_t> user;
  const absl::StatusOr<Connections::Opened> opened = Identify(fd, tcp, &user);
  if (!opened.ok()) return;
  const auto refuse = [&](const absl::Status& why) {
    if (!tcp || tls_ == nullptr) refused_.Add(std::move(socket), why);
  };
  if (endpoint.IsAbstract() && user != geteuid()) {
    return refuse(MakeError(ErrorKind::kAuth, absl::StrFormat("%s is for user %d, whose daemon this is.",
                                                              rpc::ToString(endpoint), geteuid())));
  }
  if (const absl::Status room = servers_->CheckRoom(opened->owner); !room.ok()) return refuse(room);
  device::MemoryCharge memory(devices_.side_memory().ShareOf(opened->owner));
  // Administrators, who can solve the problem, may connect even if no memory is left.
  if (opened->administrator) {
    memory.Grow(received_.stranger_bytes_max);
  } else if (const absl::Status taken = memory.TryGrow(received_.stranger_bytes_max, "A connection");
             !taken.ok()) {
    return refuse(taken);
  }
  const absl::StatusOr<uint64_t> id = connections_->Add(fd, *opened);
  if (!id.ok()) return refuse(id.status());
  if (user.has_value()) processes_->Add(fd, {.pid = static_cast<pid_t>(opened->pid), .uid = *user});
  // A process of a group has a private daemon before the others are there, and daemons may have no launches
  // for hours: the connections that only this daemon's user can have may be idle.
  const bool may_idle = endpoint.IsAbstract() || fd == options_.inherited_connection;
  servers_->Add(*id, opened->owner, MakeServer(*id, *opened, user, std::move(memory), may_idle),
                std::move(socket));
}

absl::StatusOr<Connections::Opened> Server::Identify(int socket, bool tcp,
                                                     std::optional<uint32_t>* user) const {
  if (tcp) {
    return Connections::Opened{.owner = OwnerOfSocket(socket),
                               .tcp = true,
                               .stranger = !options_.token.empty() || !options_.tls_client_authority.empty()};
  }
  ASSIGN_OR_RETURN(const rpc::PeerCredentials peer, rpc::ReadPeerCredentials(socket));
  *user = peer.uid;
  return Connections::Opened{.owner = OwnerOfUser(peer.uid),
                             .pid = peer.pid,
                             .administrator = peer.uid == 0 || peer.uid == geteuid()};
}

std::unique_ptr<GrpcServer> Server::MakeServer(uint64_t id, const Connections::Opened& opened,
                                               std::optional<uint32_t> user, device::MemoryCharge memory,
                                               bool may_idle) {
  GrpcServer::Options options;
  options.peer.local = !opened.tcp;
  options.peer.owner = opened.owner;
  options.peer.user = user;
  options.administration = opened.administrator;
  if (opened.tcp) {
    options.token = options_.token;
    options.tls = tls_;
    options.question = options_.tcp_question;
    options.patience = options_.tcp_patience;
  }
  options.greeting = may_idle ? std::max(options_.greeting, absl::Hours(24 * 10)) : options_.greeting;
  options.received = received_;
  options.memory = std::move(memory);
  options.close = [this, id] { connections_->Close(id); };
  options.greet = [this, id] { return connections_->Greet(id); };
  options.use = [this, id] { connections_->MarkUsed(id); };
  options.peers = peers_.get();
  return std::make_unique<GrpcServer>(*registry_, *health_, silent_, std::move(options));
}

void Server::RunPeriodicChecks() {
  while (!stopping_) {
    try {
      registry_->Tick();
      connections_->Tick();
      servers_->Tick();
      refused_.Tick();
      DropUnusedProcesses();
      health_->Tick();
    } catch (const std::exception& e) {  // There may be memory at the next iteration.
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
