// The servers of the connections that there are: one begins with its connection, and ends after it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "common/base/mutex.h"
#include "server/grpc/connections.h"
#include "server/grpc/grpc_server.h"

namespace hlod::grpc_server {

// Thread-safe.
class ConnectionServers {
 public:
  // `connections` outlives it.
  ConnectionServers(const Connections& connections, int64_t per_owner_max)
      : connections_(connections), per_owner_max_(per_owner_max) {}

  // Starts the server of a connection, which is `id` in `connections`. The connection ends when it has none.
  void Add(uint64_t id, const std::string& owner, std::unique_ptr<GrpcServer> server, ConnectedSocket socket);
  // RESOURCE_EXHAUSTED, kind limit, when an owner has `per_owner_max` servers, with those whose connections
  // have closed and which are still to be ended: a client that connects and closes faster than that meets a
  // limit, too.
  absl::Status CheckRoom(const std::string& owner) const;
  // Ends the servers of connections that have closed. To be called a few times a second.
  void Tick();
  // Ends all of them. No connections after it.
  void Shutdown();
  size_t size() const;

 private:
  struct Entry {
    uint64_t connection;
    std::string owner;
    std::unique_ptr<GrpcServer> server;
  };
  const Connections& connections_;
  const int64_t per_owner_max_;
  mutable Mutex mu_;
  std::vector<Entry> servers_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::grpc_server
