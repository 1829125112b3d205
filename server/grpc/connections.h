// The connections that are open, counted by who opened them: one user does not take them all. gRPC keeps its
// sockets to itself, so each is watched through a duplicate of its descriptor.
//
// A connection rises by what it has shown. A stranger has to show a token or a certificate and has not yet:
// strangers have places of their own, few, and take none of those that count for owners. A newcomer counts
// for its owner, and has done nothing that needs the connection (opened a session, say). A user's connection
// has. Where there is no place, the oldest stranger or the oldest newcomer of the same owner goes for the one
// that comes: a peer that only connects, or only asks for health, keeps no client out.
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
    int64_t per_owner_max = 0;       // connections_per_user_max.
    int64_t most = kMost;            // All together.
    int64_t for_administrators = 0;  // Of `most`, those that only administrators get.
    std::string who = "the daemon";  // Takes no more.
    int64_t strangers_max = kStrangersMax;
    absl::Duration tcp_silence;
  };
  // Each has a server with a thread.
  static constexpr int64_t kMost = 4096;
  // As many clients as may start at one moment: each is a stranger until its first call has come.
  static constexpr int64_t kStrangersMax = 128;
  explicit Connections(const Options& options);

  struct Opened {
    std::string owner;
    bool tcp = false;
    int64_t pid = 0;             // 0 when the kernel does not say.
    bool administrator = false;  // It may administer.
    bool stranger = false;       // It has something to show.
  };
  // Counts a connected socket until it closes, and returns its number here, from 1. RESOURCE_EXHAUSTED, kind
  // limit: its owner, or the daemon, has as many as it may; the caller refuses it.
  absl::StatusOr<uint64_t> Add(int socket, const Opened& opened);
  // A stranger has shown what it has to, and counts for its owner from here on. RESOURCE_EXHAUSTED as Add:
  // it stays a stranger.
  absl::Status Greet(uint64_t id);
  // It is a user's connection from here on.
  void MarkUsed(uint64_t id);
  // Ends a connection: gRPC sees its end.
  void Close(uint64_t id);
  bool IsOpen(uint64_t id) const;
  // Drops what has closed, and closes TCP connections whose peers cannot be reached. To be called a few times
  // a second.
  void Tick();
  int64_t size() const;
  // How many of an owner's are open, strangers aside.
  int64_t CountOf(const std::string& owner) const;
  // Adds the processes at the other ends, as far as the kernel said which.
  void AddProcesses(absl::flat_hash_set<int64_t>& pids) const;

 private:
  enum class Standing { kStranger, kNewcomer, kUser };
  struct Owner {
    int64_t count = 0, strangers = 0;
    bool refused = false;  // Since it last had room: logged once.
  };
  struct Connection {
    rpc::Descriptor socket;
    Opened opened;
    Standing standing;
  };
  using ById = std::map<uint64_t, Connection>;
  // Room for one more in all, and for one more that counts for its owner; others may go for it.
  absl::Status MakeRoom(const Opened& opened) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status MakeRoomOfOwner(const Opened& opened) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Logs a refusal once, and returns it.
  absl::Status Refuse(const std::string& owner, const std::string& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Closes the oldest stranger of the owners that have most of them, or the oldest newcomer of an owner.
  // False: there is none.
  bool CloseOldestStranger() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CloseOldestNewcomer(const std::string& owner) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Close(ById::iterator connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DropClosed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Drop(ById::iterator connection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  const Options options_;
  const rpc::Descriptor epoll_;
  mutable Mutex mu_;
  uint64_t last_id_ ABSL_GUARDED_BY(mu_) = 0;
  ById connections_ ABSL_GUARDED_BY(mu_);  // The oldest first.
  int64_t strangers_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<std::string, Owner> owners_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::grpc_server
