// All sessions of a daemon: opened, resumed, kept for a while, ended.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "proto/hlod/v1/admin.pb.h"
#include "server/session/memory_return.h"
#include "server/session/session.h"

namespace hlod::session {

// Thread-safe.
class Registry {
 public:
  struct Options {
    uint64_t epoch = 0;        // Another one after each start.
    bool leases = true;        // Off for a private daemon: a broken connection is the end.
    std::string arena_socket;  // Name in the abstract namespace; empty: no shared arena.
    std::string daemon;        // For people: "hlod 0.1.0 pid 17".
  };
  // All references outlive it.
  Registry(device::Devices& devices, const Processes& processes, Options options);
  ~Registry();

  // A Hello: makes or resumes a session and gives it the stream, which gets its Welcome. Errors (kind
  // version, lost_session, limit, draining) are for the stream.
  absl::StatusOr<std::shared_ptr<Session>> Open(const v1::Hello& hello, const Peer& peer,
                                                std::shared_ptr<SessionStream> stream);
  // The session, if the secret is its own: the one way to it beside its stream.
  absl::StatusOr<std::shared_ptr<Session>> Authenticate(uint64_t session, std::string_view secret) const;
  // By the secret alone, for the arena's socket.
  std::shared_ptr<Session> FindBySecret(std::string_view secret) const;

  // Ends a session and its stream.
  void End(const std::shared_ptr<Session>& session, const absl::Status& status);
  // Its stream broke: it waits for its client, or ends when there is nobody to wait for.
  void OnBroken(const std::shared_ptr<Session>& session, const SessionStream* stream);
  // A process ended, and its sessions with it.
  void OnProcessEnded(int64_t pid);
  // Leases and uploads that ran out; memory that goes back to the kernel. To be called a few times a second.
  void Tick();
  // Something of note was freed beside a session: it goes back to the kernel as what sessions leave behind.
  void NoteFreed() { freed_ = true; }
  // No new sessions from here on.
  void Drain() { draining_ = true; }
  bool draining() const { return draining_; }
  // Whether any session is left.
  size_t size() const;
  void EndAll(const absl::Status& status);

  // Whether a session has commands that are not settled, or bytes on their way.
  bool busy() const;

  // For administration.
  std::vector<std::shared_ptr<Session>> List() const;
  // The account of a session that ended, with the lines that its rows name.
  struct EndedAccount {
    uint64_t session = 0;
    device::Account account;
    absl::flat_hash_map<uint32_t, v1::Origin> lines;
  };
  static constexpr size_t kEndedKept = 16;
  // Every account once, as of one moment: of open sessions, of those that ended last (the latest first), and
  // of those before together, by device and cause, by program, by outcome.
  struct Accounts {
    std::vector<std::shared_ptr<Session>> sessions;
    std::vector<std::shared_ptr<const EndedAccount>> kept;
    device::Account others;
  };
  Accounts AllAccounts() const;
  v1::DaemonStats Stats() const;
  device::Devices& devices() const { return devices_; }
  std::atomic<int64_t> wire_bytes_in{0}, wire_bytes_out{0};

 private:
  // Everything that was ever counted, as of one moment: each account is in it once, wherever its session is
  // on its way from open to ended.
  struct Moment {
    device::Account ended;
    std::vector<std::shared_ptr<const EndedAccount>> kept;  // In the totals of `ended`, but for their rows.
    std::vector<std::shared_ptr<device::SessionDevice>> ending;
    std::vector<std::shared_ptr<Session>> sessions;
  };
  Moment Snapshot() const;
  static device::Account EndedOf(const Moment& moment);
  std::vector<std::shared_ptr<Session>> ListLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<std::shared_ptr<Session>> Create(const v1::Hello& hello, const Peer& peer);
  absl::StatusOr<std::shared_ptr<Session>> Resume(const v1::Resume& resume);
  // Accounts for sessions whose last work has ended since, and lets go of them. Whether there were any.
  bool FoldEnded();
  v1::Welcome WelcomeOf(const Session& session, uint32_t version) const;

  device::Devices& devices_;
  const Processes& processes_;
  const Options options_;
  const absl::Time started_;
  std::atomic<bool> draining_{false}, freed_{false};
  std::atomic<int64_t> sessions_ended_{0};
  mutable Mutex mu_;
  uint64_t next_session_ ABSL_GUARDED_BY(mu_) = 1;
  absl::flat_hash_map<uint64_t, std::shared_ptr<Session>> sessions_ ABSL_GUARDED_BY(mu_);
  // Of ended sessions: what still runs may still count. Folded into the ledger when nobody else has them.
  std::vector<std::shared_ptr<device::SessionDevice>> ending_ ABSL_GUARDED_BY(mu_);
  std::deque<std::shared_ptr<const EndedAccount>> kept_ ABSL_GUARDED_BY(mu_);  // The latest first.
  MemoryReturn memory_return_;  // Of the thread that calls Tick.
};

}  // namespace hlod::session
