// The daemon's outer parts (sockets, servers, watches), and the order in which they start and stop.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "common/rpc/endpoint.h"
#include "server/device/devices.h"
#include "server/grpc/arena_server.h"
#include "server/grpc/connection_servers.h"
#include "server/grpc/connections.h"
#include "server/grpc/grpc_server.h"
#include "server/grpc/handlers/health.h"
#include "server/grpc/listener.h"
#include "server/grpc/peer_links.h"
#include "server/grpc/refusal.h"
#include "server/session/processes.h"
#include "server/session/registry.h"

namespace hlod::grpc_server {

struct ServerOptions {
  std::vector<rpc::Endpoint> listen;
  std::vector<int> inherited_listeners;  // Passed by systemd.
  int inherited_connection = -1;         // A connected socket for a private daemon, which ends with it.
  std::string tls_certificate, tls_key, tls_client_authority;  // PEM texts.
  std::string token;                                           // The token that calls over TCP must show.
  std::string version;                                         // "hlod 0.1.0"
  absl::Duration greeting = absl::Seconds(10);                 // See GrpcServer::Options.
  absl::Duration group_return = absl::Milliseconds(800);       // See session::Registry::Options.
  rpc::RingUse ring = rpc::RingUse::kOff;  // The sessions on this host that are offered a ring.
  std::optional<ClusterOptions> cluster;                       // nullopt: a daemon by itself.
  std::optional<ReceiveLimits> received;  // Per connection; nullopt: derived from the daemon's limits.
  // tcp_silence: the time after which a TCP peer whose kernel does not answer is given up. The others are
  // GrpcServer::Options::question and patience of a TCP connection.
  absl::Duration tcp_silence = absl::Seconds(60), tcp_question = absl::Minutes(3),
                 tcp_patience = absl::Hours(1);
};

class Server {
 public:
  // Opens everything; after it returns, clients are answered. `devices` must outlive the server.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options, device::Devices& devices);
  ~Server();

  // The addresses on which it listens, including ports that the system chose.
  const std::vector<rpc::Endpoint>& endpoints() const { return endpoints_; }
  session::Registry& registry() { return *registry_; }
  // Refuses new sessions and waits for running work, for at most `at_most` or until `give_up` returns true.
  // Returns true when the work has ended.
  bool Drain(absl::Duration at_most, const std::function<bool()>& give_up);

 private:
  Server(ServerOptions options, device::Devices& devices);
  void OnAccepted(ConnectedSocket socket, const rpc::Endpoint& endpoint);
  // Returns the owner and process of a connection's peer. Sets `user` to that of a unix socket's peer.
  absl::StatusOr<Connections::Opened> Identify(int socket, bool tcp, std::optional<uint32_t>* user) const;
  std::unique_ptr<GrpcServer> MakeServer(uint64_t id, const Connections::Opened& opened,
                                         std::optional<uint32_t> user, device::MemoryCharge memory,
                                         bool may_idle);
  absl::Status MakePeers(session::Registry::Options& registry);
  void RunPeriodicChecks();
  // Stops watching processes that have neither a connection nor a session that would end with them.
  void DropUnusedProcesses();

  // Keeps gRPC and its threads from the start to the end. Otherwise each connection that has no other beside
  // it would start them, and one that gets no thread would wait for ever for the end of those that did not
  // start.
  struct GrpcLibrary {
    GrpcLibrary();
    ~GrpcLibrary();
  };
  const GrpcLibrary grpc_;
  const ServerOptions options_;
  const ReceiveLimits received_;
  device::Devices& devices_;
  std::vector<rpc::Endpoint> endpoints_;
  std::unique_ptr<ArenaServer> arenas_;
  std::unique_ptr<session::WatchedProcesses> processes_;
  std::unique_ptr<session::Registry> registry_;
  std::unique_ptr<Health> health_;
  std::unique_ptr<Connections> connections_;
  std::unique_ptr<PeerLinks> peers_;              // Null without a cluster.
  std::shared_ptr<grpc::ServerCredentials> tls_;  // Null without TLS.
  SilentCalls silent_;
  std::unique_ptr<ConnectionServers> servers_;
  RefusedConnections refused_;
  std::unique_ptr<Listener> listener_;
  std::atomic<bool> stopping_{false};
  std::thread periodic_thread_;
};

}  // namespace hlod::grpc_server
