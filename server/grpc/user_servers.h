// The servers of local users: one begins with its user's first connection, and ends a while after the last.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "server/grpc/connections.h"
#include "server/grpc/grpc_server.h"

namespace hlod::grpc_server {

// Thread-safe, but for HandleConnection: one thread calls it.
class UserServers {
 public:
  struct Options {
    size_t most = 64;  // Each has a thread and a queue.
    absl::Duration idle = absl::Seconds(60);
  };
  using Make = std::function<std::unique_ptr<GrpcServer>(uint32_t user)>;
  // `connections` outlives it.
  UserServers(const Options& options, const Connections& connections, Make make);

  // Gives a connected socket, which `connections` counts as its user's, to the user's server; closes it when
  // as many other users are connected as there may be servers.
  void HandleConnection(ConnectedSocket socket, uint32_t user);
  // Ends the servers of users who have had no connection for a while. To be called a few times a second.
  void Tick() { EndIdle(options_.idle); }
  // Ends all of them. No connections after it.
  void Shutdown();
  size_t size() const;

 private:
  struct Entry {
    std::unique_ptr<GrpcServer> server;
    absl::Time connected;  // When its user last was.
  };
  bool HasRoomFor(uint32_t user) const;
  void EndIdle(absl::Duration idle);

  const Options options_;
  const Connections& connections_;
  const Make make_;
  bool refused_ = false;  // Since there was room: logged once.
  mutable Mutex mu_;
  std::map<uint32_t, Entry> servers_ ABSL_GUARDED_BY(mu_);  // By user.
};

}  // namespace hlod::grpc_server
