// The other daemons of a cluster, as one client sees them: which of them owns a device, and the session
// there.
//
// A client connects to one daemon, which names the other members of its cluster. Devices are numbered through
// all of them: first those of the connected daemon, then the others' in the order of ranks. When a device of
// another daemon is first used, the client opens a session there, too, with the same credentials; bytes go
// straight to the daemon that owns the device. The sessions are independent, except that they take their
// handles from one counter: a daemon that ends takes its own buffers with it, and nothing else.
//
// In a group (hlod/runtime/group.h) each daemon has a client process of its own. Devices are numbered in the
// order of the processes, the same for all of them, and a process uses only those of its own daemon.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "client/runtime/connection/pipe.h"
#include "client/runtime/session/command.h"
#include "client/runtime/session/daemon_facts.h"

namespace hlod::runtime {

class Session;
struct SessionOptions;

// Thread-safe.
class Daemons : public std::enable_shared_from_this<Daemons> {
 public:
  // Returns a connector to the daemon at an address, with the client's credentials.
  using Reach = std::function<absl::StatusOr<std::unique_ptr<Connector>>(const std::string& address)>;

  // `connected` are the facts of the daemon that the client has connected to; `options` are its session's.
  Daemons(const DaemonFacts& connected, const SessionOptions& options, Reach reach);
  // The daemon of one process of a group.
  struct Member {
    uint32_t rank = 0;
    std::string name;
    int devices = 0;
    int64_t memory_bytes = 0;  // The stated capacity of each device.
  };
  // For process `own` of a group.
  Daemons(absl::Span<const Member> processes, size_t own);
  ~Daemons();

  // The devices of all daemons.
  const std::vector<DeviceInfo>& devices() const { return devices_; }
  // Remembers the client's own session, with the connected daemon, and its number in the cluster.
  void SetHome(const std::shared_ptr<Session>& home);
  // Returns the client's own session; null when it has ended.
  std::shared_ptr<Session> home() const { return home_.lock(); }
  // Returns the session with the daemon that owns the device, which must exist; opens it if there is none, or
  // if the last one is lost. Fails with kind lost_daemon when the daemon cannot be reached.
  absl::StatusOr<std::shared_ptr<Session>> Owner(int device) ABSL_LOCKS_EXCLUDED(mu_);
  // Returns the sessions that were opened and are not lost.
  std::vector<std::shared_ptr<Session>> Opened() const ABSL_LOCKS_EXCLUDED(mu_);
  // Releases the sessions: each ends with its last buffer.
  void Release() ABSL_LOCKS_EXCLUDED(mu_);

  // Returns a handle larger than all before.
  uint64_t NewHandle() { return next_handle_++; }
  // Returns the rank of the daemon that owns a device, and the device's ordinal there.
  uint32_t RankOf(int device) const;
  int OrdinalOf(int device) const;
  // Returns the client's number in the cluster, for the launches over several daemons, and counts these.
  uint64_t group() const { return group_; }
  uint64_t NextLaunch(absl::Span<const int> devices) ABSL_EXCLUSIVE_LOCKS_REQUIRED(launching_);
  absl::Mutex& launching() ABSL_LOCK_RETURNED(launching_) { return launching_; }

  // Remembers the part of a launch that this process has sent. Then waits while kAheadMax launches before it
  // have not ended: the daemons keep a bounded number of launches for which other processes are not there
  // yet.
  absl::Status LimitAhead(Session& session, const Command& sent) ABSL_LOCKS_EXCLUDED(ahead_mu_);
  static constexpr size_t kAheadMax = 512;

  // True when the devices are those of the processes of a group.
  bool is_group() const { return is_group_; }
  // Returns the process of a group that has the device, and the number of processes.
  int ProcessOf(int device) const { return static_cast<int>(IndexOf(device)); }
  int processes() const;
  // Returns false for a device that only another process may use.
  bool MayUse(int device) const { return !is_group_ || IndexOf(device) == own_; }

 private:
  struct Daemon {
    uint32_t rank = 0;
    std::string name, address;
    std::string pass;  // Shows the daemon that the client has this group.
    int first_device = 0, devices = 0;
    // Null until a device is used; for the connected daemon, always.
    std::shared_ptr<Session> session = nullptr;
    // The last failure to reach it, which counts for a second.
    absl::Status failure = absl::OkStatus();
    absl::Time failed = absl::InfinitePast();
  };
  void Add(Daemon daemon, int64_t memory_bytes);
  size_t IndexOf(int device) const;
  absl::StatusOr<std::shared_ptr<Session>> Open(const Daemon& daemon, const Session& home);

  const Reach reach_;
  const std::unique_ptr<const SessionOptions> options_;
  const std::string cluster_;
  const absl::Duration silence_;
  const bool is_group_ = false;
  const size_t own_ = 0;  // The position of the connected daemon.
  std::vector<DeviceInfo> devices_;
  // Set before others use this object.
  std::weak_ptr<Session> home_;
  uint64_t group_ = 0;
  std::atomic<uint64_t> next_handle_ = 1;
  // Held while the parts of one launch are sent, so that all daemons receive launches in one order.
  absl::Mutex launching_;
  // The number of launches by the daemons that they run on; a client that has all daemons counts all
  // together.
  std::map<std::vector<uint32_t>, uint64_t> launches_ ABSL_GUARDED_BY(launching_);
  absl::Mutex ahead_mu_;
  std::deque<Command> ahead_ ABSL_GUARDED_BY(ahead_mu_);  // The last launches, in order.
  mutable absl::Mutex mu_;
  std::vector<Daemon> daemons_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::runtime
