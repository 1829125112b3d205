// The local processes that have connected, watched by pidfd, so that a dead client's memory is free within a
// moment.
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

// A pidfd of the process at the other end of a unix socket, `pid` by its credentials; invalid when it has
// ended already.
rpc::Descriptor OpenPidFd(int socket, int64_t pid);

// Thread-safe.
class WatchedProcesses : public Processes {
 public:
  // `ended` is called on the watcher's thread with the id of a process that ended.
  explicit WatchedProcesses(std::function<void(int64_t pid)> ended);
  ~WatchedProcesses() override;

  // Watches the process at the other end of a unix socket.
  void Add(int socket, const rpc::PeerCredentials& credentials);
  // Drops the processes that are not `in_use` for the second time in a row: each takes a descriptor. To be
  // called now and then; twice, since what uses a process may have begun while the caller was asking.
  void DropUnused(const absl::flat_hash_set<int64_t>& in_use);
  std::optional<uint32_t> UserOf(int64_t pid) const override;
  bool HasEnded(int64_t pid) const override;

 private:
  void Watch();
  void RememberEnded(int64_t pid) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  struct Process {
    rpc::Descriptor pidfd;
    uint32_t user = 0;
    bool unused = false;  // At the last DropUnused.
  };
  const std::function<void(int64_t)> ended_;
  rpc::Descriptor epoll_, wake_;
  mutable Mutex mu_;
  absl::flat_hash_map<int64_t, Process> processes_ ABSL_GUARDED_BY(mu_);
  // The last that ended: a Hello may be handled after its process was killed.
  std::deque<int64_t> ended_lately_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace hlod::session
