// All sessions of a daemon: opens, resumes, keeps and ends them.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/base/sha256.h"
#include "common/rpc/ring_use.h"
#include "proto/hlod/v1/admin.pb.h"
#include "server/session/memory_return.h"
#include "server/session/session.h"

namespace hlod::session {

// Thread-safe.
class Registry {
 public:
  struct Options {
    uint64_t epoch = 0;        // Different after each start of the daemon.
    bool leases = true;        // False for a private daemon, where a broken connection ends the session.
    // The time for which a session that launches programs together with those of other processes is kept
    // after the end of its connection. At most limit grace_us.
    absl::Duration group_return = absl::Milliseconds(800);
    // Name in the abstract namespace; empty: no shared memory.
    std::string arena_socket;
    // The sessions on this host that are offered a ring; kOn: those of the daemon's own user.
    rpc::RingUse ring = rpc::RingUse::kOff;
    std::string daemon;        // Displayed as "hlod 0.1.0 pid 17".
    // Returns the client of the launches of a new session, by its Hello.pass and its owner here. An error
    // refuses the session. Null: the daemon has no cluster.
    std::function<absl::StatusOr<device::LaunchClient>(const std::string& pass, const std::string& owner)>
        admit_client;
    // Adds the daemon's cluster to the Welcome of a client. Null: it has none.
    std::function<void(v1::Welcome&, const device::LaunchClient&)> add_cluster;
  };
  // The references must outlive this object.
  Registry(device::Devices& devices, const Processes& processes, Options options);
  ~Registry();

  // Handles a Hello: makes or resumes a session and gives it the stream, which gets its Welcome. Errors (kind
  // version, lost_session, limit, draining) are meant for the stream.
  absl::StatusOr<std::shared_ptr<Session>> Open(const v1::Hello& hello, const Peer& peer,
                                                std::shared_ptr<SessionStream> stream);
  // Returns the session if the secret is right. This is the only access to it besides its stream.
  absl::StatusOr<std::shared_ptr<Session>> Authenticate(uint64_t session, std::string_view secret) const;
  // Returns the session that hands out shared memory for a key, for the arena's socket: an arena for the
  // session's secret, a ring for its Ring.key. The session is null when it offers none, or there is none.
  struct Sharing {
    std::shared_ptr<Session> session;
    bool ring = false;
  };
  Sharing FindByKey(std::string_view key) const;
  // Returns true when a session that offers shared memory may belong to this user.
  bool SharesWith(uint32_t user) const;

  // Ends a session and its stream.
  void End(const std::shared_ptr<Session>& session, const absl::Status& status);
  // Called when the stream of a session broke. The session waits for its client, or ends when no client can
  // resume it.
  void OnBroken(const std::shared_ptr<Session>& session, const SessionStream* stream);
  // Ends the sessions of a process that ended.
  void OnProcessEnded(int64_t pid);
  // Handles leases and uploads that have expired, and returns memory to the kernel. Must be called a few
  // times a second.
  void Tick();
  // Records that much memory was freed outside of sessions. It is returned to the kernel like that of ended
  // sessions.
  void NoteFreed() { freed_ = true; }
  // Refuses new sessions from now on.
  void Drain() { draining_ = true; }
  bool draining() const { return draining_; }
  // The number of sessions.
  size_t size() const;
  void EndAll(const absl::Status& status);

  // Returns true while a session has commands that are not settled, or bytes being transferred.
  bool busy() const;

  // Used by administration.
  std::vector<std::shared_ptr<Session>> List() const;
  // The account of a session that ended, with the lines that its rows name.
  struct EndedAccount {
    uint64_t session = 0;
    device::Account account;
    absl::flat_hash_map<uint32_t, v1::Origin> lines;
  };
  static constexpr size_t kEndedKept = 16;
  // Every account once, at one moment: those of open sessions, those of the sessions that ended last (latest
  // first), and the sum of earlier ones by device and cause, by program, and by outcome.
  struct Accounts {
    std::vector<std::shared_ptr<Session>> sessions;
    std::vector<std::shared_ptr<const EndedAccount>> kept;
    device::Account others;
  };
  Accounts AllAccounts() const;
  v1::DaemonStats Stats() const;
  device::Devices& devices() const { return devices_; }
  std::atomic<int64_t> wire_bytes_in{0}, wire_bytes_out{0};
  std::atomic<int64_t> rings{0};  // Connections whose messages come through a ring.

 private:
  // All that was ever counted, at one moment. Each account is in it once, at any point between the opening
  // and the end of its session.
  struct Moment {
    device::Account ended;
    // The totals of `ended` include these accounts, but its rows do not.
    std::vector<std::shared_ptr<const EndedAccount>> kept;
    std::vector<std::shared_ptr<device::SessionDevice>> ending;
    std::vector<std::shared_ptr<Session>> sessions;
  };
  Moment Snapshot() const;
  static device::Account EndedOf(const Moment& moment);
  std::vector<std::shared_ptr<Session>> ListLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<std::shared_ptr<Session>> Create(const v1::Hello& hello, const Peer& peer);
  bool OffersRing(std::optional<uint32_t> user) const;
  absl::StatusOr<std::shared_ptr<Session>> Resume(const v1::Resume& resume);
  // Make FindByKey find the session, and no longer find it. Forgetting needs no memory.
  void AddKeys(const Session::Identity& identity) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ForgetKeys(const Session::Identity& identity) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Folds the accounts of sessions whose last work has ended meanwhile, and releases these sessions. Returns
  // true if there were any.
  bool FoldEnded();
  v1::Welcome WelcomeOf(const Session& session, uint32_t version) const;
  void Tick(const std::shared_ptr<Session>& session, absl::Time now);
  // Returns the time for which a session is kept after the end of its connection. A process that is gone
  // looks like one whose connection was cut, which comes back at once; silence does not end a connection.
  absl::Duration GraceOf(const Session& session) const;

  device::Devices& devices_;
  const Processes& processes_;
  const Options options_;
  const absl::Time started_;
  std::atomic<bool> draining_{false}, freed_{false};
  std::atomic<int64_t> sessions_ended_{0};
  mutable Mutex mu_;
  uint64_t next_session_ ABSL_GUARDED_BY(mu_) = 1;
  absl::flat_hash_map<uint64_t, std::shared_ptr<Session>> sessions_ ABSL_GUARDED_BY(mu_);
  // The sessions that offer shared memory, by the digests of their keys: the time that it takes to look for a
  // guessed key says nothing about the keys.
  struct KeyOwner {
    uint64_t session = 0;
    bool ring = false;
  };
  absl::flat_hash_map<Digest, KeyOwner> keys_ ABSL_GUARDED_BY(mu_);
  // Ended sessions whose running work may still be counted. Each is folded into the ledger when nothing else
  // refers to it.
  std::vector<std::shared_ptr<device::SessionDevice>> ending_ ABSL_GUARDED_BY(mu_);
  std::deque<std::shared_ptr<const EndedAccount>> kept_ ABSL_GUARDED_BY(mu_);  // Latest first.
  MemoryReturn memory_return_;  // Used by the thread that calls Tick.
};

}  // namespace hlod::session
