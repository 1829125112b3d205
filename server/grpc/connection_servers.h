// The servers of the connections that there are: one begins with its connection, and ends after it, on a
// thread that does nothing else, for each takes a moment.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"

#include "common/base/system/mutex.h"
#include "server/grpc/connections.h"
#include "server/grpc/grpc_server.h"

namespace hlod::grpc_server {

// Thread-safe.
class ConnectionServers {
 public:
  // As one owner makes in a moment that is short for the thread, whatever limit its connections have.
  static constexpr int64_t kEndingPerOwnerMax = 512;
  // As many as hold memory that is worth to be given back.
  static constexpr int64_t kManyEnded = 32;

  // `connections` outlives it. `many_ended` is called on its thread when so many servers have ended since it
  // was called last, and no other one waits.
  ConnectionServers(
      const Connections& connections, int64_t ending_per_owner_max, std::function<void()> many_ended = [] {});
  ~ConnectionServers() { Shutdown(); }

  // Starts the server of a connection, which is `id` in `connections`. The connection ends when it has none.
  void Add(uint64_t id, const std::string& owner, std::unique_ptr<GrpcServer> server, ConnectedSocket socket);
  // RESOURCE_EXHAUSTED, kind limit, when as many servers of this owner as may be have lost their connections
  // and are still to be ended: a client that connects and closes faster than that meets a limit, too.
  absl::Status CheckRoom(const std::string& owner) const;
  // Lets the servers of connections that have closed end. To be called a few times a second.
  void Tick();
  // Ends all of them. No connections after it.
  void Shutdown();
  // With those that are still to be ended.
  size_t size() const;

 private:
  struct Entry {
    uint64_t connection;
    std::string owner;
    std::unique_ptr<GrpcServer> server;
  };
  // The thread: ends what Tick hands over.
  void EndThem();

  const Connections& connections_;
  const int64_t ending_per_owner_max_;
  const std::function<void()> many_ended_;
  mutable Mutex mu_;
  CondVar changed_;
  std::list<Entry> servers_ ABSL_GUARDED_BY(mu_);
  std::list<Entry> ending_ ABSL_GUARDED_BY(mu_);  // The front one is being ended.
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace hlod::grpc_server
