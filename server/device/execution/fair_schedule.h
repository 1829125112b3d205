// Which session's job starts next: of those that may start, the one whose session has used the least time.
// Bookkeeping only: it owns no thread and reads no clock.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace hlod::device {

// Start-time fair queueing, with the time that jobs took as their cost. Each session has a virtual time: what
// its jobs have used. A session that comes back from idleness continues at the schedule's virtual time, so
// idleness earns no credit; one that has used much is behind by at most kDebtMaxUs, and nothing is remembered
// once no job is left. What a session is behind when it ends stays with its owner: the owner's next sessions
// begin with it. Jobs of one session start in the order they were added.
//
// Not thread-safe. All times are microseconds of one steady clock.
class FairSchedule {
 public:
  using Job = std::function<void()>;
  struct Options {
    // So many jobs run side by side, of one session or of several.
    int width = 1;
    // Beyond these, a job that is expected to take at most so long starts beside jobs of other sessions that
    // have all been running for as long as it is expected to take (within the bounds below). 0: none does.
    double beside_us_max = 0;
  };
  static constexpr int64_t kBesideMinUs = 10'000, kBesideMaxUs = 100'000;
  static constexpr int64_t kDebtMaxUs = 1'000'000;
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  struct Started {
    uint64_t id = 0, session = 0;
    Job job;
  };
  struct Waiting {
    double expected_us = 0;
    Job job;
  };

  explicit FairSchedule(Options options) : options_(options) {}

  // Whose session it is, until it is discarded. Before its first job.
  void SetOwner(uint64_t session, uint64_t owner) { owners_[session] = owner; }
  void Add(uint64_t session, double expected_us, Job job);
  // Starts a job that its caller runs at once, when no other should start before it: its id, or nothing.
  std::optional<uint64_t> StartHere(uint64_t session, double expected_us, int64_t now_us);
  // The job that starts now, if one may.
  std::optional<Started> Start(int64_t now_us);
  // When Start has something to give if no job completes before; kNever when a job must complete first.
  int64_t NextStartUs() const;
  void Complete(uint64_t id, int64_t now_us);
  // A job that was completed because it waited goes on, beside what runs by now: its new id.
  uint64_t Resume(uint64_t session, int64_t now_us);
  // For a running job that found no room beside others: `again` starts before the session's other jobs, once
  // another of the running jobs has completed. False when no other session's job ran beside it: it was alone.
  // REQUIRES: width 1 and a running job of the session.
  bool Postpone(uint64_t session, double expected_us, Job again);
  // What has not started, of a session that ends or of all. The caller destroys it without a lock.
  std::list<Waiting> Discard(uint64_t session);
  std::list<Waiting> DiscardAll();

  int64_t waiting() const { return waiting_; }
  // The jobs that run now, oldest first: of which session, and for how long.
  struct RunningJob {
    uint64_t session = 0;
    int64_t run_us = 0;
  };
  std::vector<RunningJob> ListRunning(int64_t now_us) const;
  int64_t running() const { return static_cast<int64_t>(running_.size()); }

 private:
  struct Session {
    std::list<Waiting> waiting;
    int64_t used_us = 0;   // The virtual time.
    uint64_t turn = 0;     // Of equals the one goes first that came, or had a job started, longest ago.
    bool blocked = false;  // Postponed: until another job completes.
  };
  struct Running {
    uint64_t id = 0, session = 0;
    int64_t start_us = 0;
    bool accompanied = false;  // Another job ran at the same time.
    std::optional<uint64_t> owner;
  };

  bool IsRunning(uint64_t session) const;
  // The session's virtual time with what its running jobs have used so far.
  int64_t UsedUs(uint64_t id, const Session& session, int64_t now_us) const;
  int64_t StartableUs(uint64_t session, double expected_us) const;
  // The entry of a session that gets a job.
  Session& Activate(uint64_t session);
  uint64_t Run(uint64_t session, int64_t now_us);
  std::optional<uint64_t> OwnerOf(uint64_t session) const;
  // The virtual time that a session begins at.
  int64_t StartingUs(uint64_t session) const;
  // What an ended session has used stays with its owner.
  void KeepDebt(std::optional<uint64_t> owner, int64_t used_us);

  const Options options_;
  absl::flat_hash_map<uint64_t, Session> sessions_;
  absl::flat_hash_map<uint64_t, uint64_t> owners_;  // By session.
  absl::flat_hash_map<uint64_t, int64_t> debts_;    // Virtual times of ended sessions, by owner.
  std::vector<Running> running_;
  int64_t waiting_ = 0;
  int64_t virtual_us_ = 0;  // Of the job that started last.
  uint64_t last_id_ = 0, last_turn_ = 0;
};

}  // namespace hlod::device
