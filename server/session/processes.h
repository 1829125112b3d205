// Watches the local processes that have connected, by pidfd, so that the memory of a dead client is freed
// within a moment.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/base/system/mutex.h"
#include "common/rpc/shared_memory.h"
#include "server/session/session_stream.h"

namespace hlod::session {

// Returns a pidfd of the process at the other end of a unix socket, `pid` by its credentials. Invalid when
// the process has already ended.
rpc::Descriptor OpenPidFd(int socket, int64_t pid);

// Thread-safe.
class WatchedProcesses : public Processes {
 public:
  // `ended` is called on the watcher's thread with the id of a process that ended.
  explicit WatchedProcesses(std::function<void(int64_t pid)> ended);
  ~WatchedProcesses() override;

  // Watches the process at the other end of a unix socket.
  void Add(int socket, const rpc::PeerCredentials& credentials);
  // Stops watching the processes that are not `in_use` for the second time in a row, because each needs a
  // descriptor. Must be called periodically. A process is dropped only at the second call, because its use
  // may have begun while the caller collected `in_use`.
  void DropUnused(const absl::flat_hash_set<int64_t>& in_use);
  std::optional<uint32_t> UserOf(int64_t pid) const override;
  bool HasEnded(int64_t pid) const override;

 private:
  void Watch();
  void RememberEnded(int64_t pid) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  struct Process {
    rpc::Descriptor pidfd;
    uint32_t user = 0;
    bool unused = false;  // True if it was not used at the last DropUnused.
  };
  const std::function<void(int64_t)> ended_;
  rpc::Descriptor epoll_, wake_;
  mutable Mutex mu_;
  absl::flat_hash_map<int64_t, Process> processes_ ABSL_GUARDED_BY(mu_);
  // The latest ended processes, because a Hello may be handled after its process was killed.
  std::deque<int64_t> ended_lately_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace hlod::session
