// The servers of the connections that there are: one begins with its connection, and ends after it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/base/mutex.h"
#include "server/grpc/connections.h"
#include "server/grpc/grpc_server.h"

namespace hlod::grpc_server {

// Thread-safe.
class ConnectionServers {
 public:
  // `connections` outlives it.
  explicit ConnectionServers(const Connections& connections) : connections_(connections) {}

  // Starts the server of a connection, which is `id` in `connections`. The connection ends when it has none.
  void Add(uint64_t id, std::unique_ptr<GrpcServer> server, ConnectedSocket socket);
  // Ends the servers of connections that have closed. To be called a few times a second.
  void Tick();
  // Ends all of them. No connections after it.
  void Shutdown();
  size_t size() const;

 private:
  struct Entry {
    uint64_t connection;
    std::unique_ptr<GrpcServer> server;
  };
  const Connections& connections_;
  mutable Mutex mu_;
  std::vector<Entry> servers_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::grpc_server
