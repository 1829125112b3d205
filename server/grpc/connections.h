// The open connections, counted by owner, so that one user cannot take them all. gRPC does not expose its
// sockets, so each is watched through a duplicate of its descriptor.
//
// A connection is in one of three states. A stranger must show a token or a certificate and has not done so:
// strangers have a few separate places and are not counted for an owner. A newcomer is counted for its owner,
// but has not done anything yet that needs the connection (such as opening a session). A user's connection
// has. When there is no place, the new connection replaces the oldest stranger, or the oldest newcomer of the
// same owner: a peer that only connects, or only asks for health, cannot keep clients out.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/system/mutex.h"
#include "common/rpc/shared_memory.h"

namespace hlod::grpc_server {

// A connected socket. Its destructor ends the connection, even when the socket has a duplicate.
class ConnectedSocket {
 public:
  explicit ConnectedSocket(int fd) : fd_(fd) {}
  ConnectedSocket(ConnectedSocket&&) = default;
  ~ConnectedSocket();
  int get() const { return fd_.get(); }
  // Returns the descriptor, which the caller then owns.
  int Release() { return fd_.Release(); }

 private:
  rpc::Descriptor fd_;
};

// Thread-safe.
class Connections {
 public:
  struct Options {
    int64_t per_owner_max = 0;       // The limit connections_per_user_max.
    int64_t most = kMost;            // The limit of all connections.
    int64_t for_administrators = 0;  // The places among `most` that are reserved for administrators.
    std::string who = "the daemon";  // Named in errors as the one without places.
    int64_t strangers_max = kStrangersMax;
    absl::Duration tcp_silence;
  };
  // Each connection has a server with a thread.
  static constexpr int64_t kMost = 4096;
  // The maximum number of strangers: of clients that can start at the same moment, because each is a stranger
  // until its first call has arrived.
  static constexpr int64_t kStrangersMax = 128;
  explicit Connections(const Options& options);

  struct Opened {
    std::string owner;
    bool tcp = false;
    int64_t pid = 0;             // 0 if the kernel does not report it.
    bool administrator = false;  // True when it may administer.
    bool stranger = false;       // True when it must show a token or certificate.
  };
  // Counts a connected socket until it closes, and returns its id, counted from 1. RESOURCE_EXHAUSTED, kind
  // limit, if its owner or the daemon has no place: then the caller must refuse it.
  absl::StatusOr<uint64_t> Add(int socket, const Opened& opened);
  // Called when a stranger has shown its token or certificate: from now on it is counted for its owner.
  // RESOURCE_EXHAUSTED like Add: then it stays a stranger.
  absl::Status Greet(uint64_t id);
  // Makes it a user's connection.
  void MarkUsed(uint64_t id);
  // Ends a connection: gRPC sees that it is closed.
  void Close(uint64_t id);
  bool IsOpen(uint64_t id) const;
  // Drops closed connections, and closes TCP connections whose peers cannot be reached. To be called a few
  // times a second.
  void Tick();
  int64_t size() const;
  // The number of an owner's open connections, without strangers.
  int64_t CountOf(const std::string& owner) const;
  // Adds the ids of the processes at the other ends that the kernel reported.
  void AddProcesses(absl::flat_hash_set<int64_t>& pids) const;

 private:
  enum class Standing { kStranger, kNewcomer, kUser };
  struct Owner {
    int64_t count = 0, strangers = 0;
    bool refused = false;  // True if one was refused since it last had room, so that this is logged once.
  };
  struct Connection {
    rpc::Descriptor socket;
    Opened opened;
    Standing standing;
  };
  using ById = std::map<uint64_t, Connection>;
  // Make room for one more connection in all, and for one more of its owner, closing another if needed.
  absl::Status MakeRoom(const Opened& opened) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status MakeRoomOfOwner(const Opened& opened) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Logs a refusal once, and returns it as an error.
  absl::Status Refuse(const std::string& owner, const std::string& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Close the oldest stranger of the owner that has the most strangers, and the oldest newcomer of an owner.
  // Return false if there is none.
  bool CloseOldestStranger() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CloseOldestNewcomer(const std::string& owner) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Close(ById::iterator connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DropClosed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Drop(ById::iterator connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  const Options options_;
  const rpc::Descriptor epoll_;
  mutable Mutex mu_;
  uint64_t last_id_ ABSL_GUARDED_BY(mu_) = 0;
  ById connections_ ABSL_GUARDED_BY(mu_);  // Oldest first.
  int64_t strangers_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<std::string, Owner> owners_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::grpc_server
