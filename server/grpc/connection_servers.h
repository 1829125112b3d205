// The servers of the open connections. A server begins with its connection and ends after it, on a thread
// that has no other work, because ending one takes a moment.
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
  // The number of servers that one owner can create while the thread ends others, for any limit on its
  // connections.
  static constexpr int64_t kEndingPerOwnerMax = 512;
  // The number of ended servers that held enough memory to be worth returning.
  static constexpr int64_t kManyEnded = 32;

  // `connections` must outlive this object. `many_ended` is called on its thread when kManyEnded servers have
  // ended since its last call, and none is waiting to be ended.
  ConnectionServers(
      const Connections& connections, int64_t ending_per_owner_max, std::function<void()> many_ended = [] {});
  ~ConnectionServers() { Shutdown(); }

  // Starts the server of a connection, which is `id` in `connections`. The connection ends when the server
  // cannot start.
  void Add(uint64_t id, const std::string& owner, std::unique_ptr<GrpcServer> server, ConnectedSocket socket);
  // RESOURCE_EXHAUSTED, kind limit, when ending_per_owner_max servers of this owner have lost their
  // connections and are still to be ended: this limits a client that keeps connecting and closing faster than
  // that.
  absl::Status CheckRoom(const std::string& owner) const;
  // Hands the servers of closed connections to the thread that ends them, and ticks the others. To be called
  // a few times a second.
  void Tick();
  // Ends all servers. No connections may be added after it.
  void Shutdown();
  // Includes the servers that are still to be ended.
  size_t size() const;

 private:
  struct Entry {
    uint64_t connection;
    std::string owner;
    std::unique_ptr<GrpcServer> server;
  };
  // The thread: ends the servers that Tick hands over.
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
