// The connections that are open, counted by who opened them: one user does not take them all. gRPC keeps its
// sockets to itself, so each is watched through a duplicate of its descriptor.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/rpc/shared_memory.h"

namespace hlod::grpc_server {

// A connected socket. It ends the connection with itself, also when the socket has a duplicate.
class ConnectedSocket {
 public:
  explicit ConnectedSocket(int fd) : fd_(fd) {}
  ConnectedSocket(ConnectedSocket&&) = default;
  ~ConnectedSocket();
  int get() const { return fd_.get(); }
  // The caller's from here on.
  int Release() { return fd_.Release(); }

 private:
  rpc::Descriptor fd_;
};

// Thread-safe.
class Connections {
 public:
  struct Options {
    int64_t per_owner_max = 0;  // connections_per_user_max.
    absl::Duration tcp_silence;
  };
  explicit Connections(const Options& options);

  // Counts a connected socket until it closes. False: `owner` has as many as it may, and the caller closes
  // it.
  bool Add(int socket, const std::string& owner, bool tcp, int64_t pid = 0);
  // A client resets more calls than it may (ResetBudget): closes its connection. `peer` is gRPC's name of it,
  // for TCP. Those over unix sockets have no names: of `owner`'s it is the one with the most RST_STREAM
  // frames among the bytes that nobody has read yet. False: none has any.
  bool CloseResetting(const std::string& owner, const std::string& peer);
  // Drops what has closed, and closes TCP connections whose peers cannot be reached. To be called a few times
  // a second.
  void Tick();
  int64_t size() const;
  // How many of an owner's are open.
  int64_t CountOf(const std::string& owner) const;
  // Adds the processes at the other ends, as far as the kernel said which.
  void AddProcesses(absl::flat_hash_set<int64_t>& pids) const;

 private:
  void DropClosed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  struct Owner {
    int64_t count = 0;
    bool refused = false;  // Since it last had room: logged once.
  };
  struct Connection {
    rpc::Descriptor socket;
    std::string owner;
    bool tcp = false;
    int64_t pid = 0;
  };
  const Options options_;
  const rpc::Descriptor epoll_;
  mutable Mutex mu_;
  absl::flat_hash_map<int, Connection> connections_ ABSL_GUARDED_BY(mu_);  // By the duplicate's number.
  absl::flat_hash_map<std::string, Owner> owners_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::grpc_server
