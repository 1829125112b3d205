// Decides which session's job starts next: of the jobs that may start, the one whose session has used the
// least time. It is bookkeeping only, without threads and clocks.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace hlod::device {

// Start-time fair queueing, where the cost of a job is the time that it took. Each session has a virtual
// time, the sum of the times that its jobs have used. A session that returns from idleness continues at the
// schedule's virtual time, so idleness earns no credit. A session that has used much is behind by at most
// kDebtMaxUs, and is forgotten once no job is left. The debt of a session that ends stays with its owner: the
// owner's next sessions begin with it. Jobs of one session start in the order in which they were added.
//
// Not thread-safe. All times are microseconds of one steady clock.
class FairSchedule {
 public:
  using Job = std::function<void()>;
  static constexpr int64_t kBesideMinUs = 10'000, kBesideMaxUs = 100'000;
  struct Options {
    // The number of jobs that run side by side, of one session or several.
    int width = 1;
    // Beyond `width`, a job that is expected to take at most this time starts beside jobs of other sessions,
    // once all of these have been running for long: for the time that it is expected to take, or for ten
    // times that where this is below kBesideMinUs, and within the bounds `beside_wait_us_min` and
    // kBesideMaxUs. 0: no job does.
    double beside_us_max = 0;
    int64_t beside_wait_us_min = kBesideMinUs;
    // A job that is expected to take less than this waits for no other session, and holds up none: handing it
    // to another thread costs more than its run, and a thread with longer jobs may have to wait for a core. A
    // running one may wait for a core for many times as long as it takes; if it held up longer jobs, they
    // would not start as long as the tiny jobs of several sessions overlap.
    double tiny_us = 0;
  };
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

  // Sets the owner of a session, until Discard. To be called before the session's first job.
  void SetOwner(uint64_t session, uint64_t owner) { owners_[session] = owner; }
  void Add(uint64_t session, double expected_us, Job job);
  // Starts a job that its caller runs at once. Returns its id, or nullopt when another job should start
  // before it.
  std::optional<uint64_t> StartHere(uint64_t session, double expected_us, int64_t now_us);
  // Returns the job that starts now, or nullopt if none may start.
  std::optional<Started> Start(int64_t now_us);
  // Returns the time at which Start will return a job if no job completes before; kNever if a job must
  // complete first.
  int64_t NextStartUs() const;
  void Complete(uint64_t id, int64_t now_us);
  // Continues a job that was completed because it waited, beside the jobs that are running now. Returns its
  // new id; 0, of no job, when there is no memory for an entry.
  uint64_t Resume(uint64_t session, int64_t now_us) noexcept;
  // For a running job that found too little memory beside others. `again` starts before the session's other
  // jobs, once another of the running jobs has completed. Returns false when no other session's job ran
  // beside it, or only tiny ones beside a longer one. REQUIRES: width 1 and a running job of the session.
  bool Postpone(uint64_t session, double expected_us, Job again);
  // Return the jobs that have not started, of a session that ends or of all. The caller destroys them without
  // holding a lock.
  std::list<Waiting> Discard(uint64_t session);
  std::list<Waiting> DiscardAll();

  int64_t waiting() const { return waiting_; }
  // Returns true if jobs of other sessions wait.
  bool OthersWait(uint64_t session) const;
  // The running jobs, oldest first, each with its session and the time it has run.
  struct RunningJob {
    uint64_t session = 0;
    int64_t run_us = 0;
  };
  std::vector<RunningJob> ListRunning(int64_t now_us) const;
  int64_t running() const { return static_cast<int64_t>(running_.size()); }

 private:
  struct Session {
    std::list<Waiting> waiting;
    int64_t used_us = 0;  // The virtual time.
    // Breaks ties: the session that was added, or had a job started, longest ago comes first.
    uint64_t turn = 0;
    bool blocked = false;  // True when it is postponed until another job completes.
  };
  struct Running {
    uint64_t id = 0, session = 0;
    int64_t start_us = 0;
    // True when a job ran at the same time that may hold the memory which this one needs.
    bool accompanied = false;
    std::optional<uint64_t> owner;
    bool tiny = false;
  };

  bool IsRunning(uint64_t session) const;
  // Returns the session's virtual time, including the time that its running jobs have used so far.
  int64_t UsedUs(uint64_t id, const Session& session, int64_t now_us) const;
  int64_t StartableUs(uint64_t session, double expected_us) const;
  // Returns the entry of a session that gets a job.
  Session& Activate(uint64_t session);
  uint64_t Run(uint64_t session, double expected_us, int64_t now_us);
  std::optional<uint64_t> OwnerOf(uint64_t session) const;
  // Returns the virtual time that a new session begins at.
  int64_t StartingUs(uint64_t session) const;
  // Adds an ended session's use to its owner's debt.
  void KeepDebt(std::optional<uint64_t> owner, int64_t used_us) noexcept;
  // Charges the time of a job that has completed to its session.
  void ChargeRun(const Running& over, int64_t now_us);

  const Options options_;
  absl::flat_hash_map<uint64_t, Session> sessions_;
  absl::flat_hash_map<uint64_t, uint64_t> owners_;  // The owners by session.
  absl::flat_hash_map<uint64_t, int64_t> debts_;    // The virtual times of ended sessions, by owner.
  std::vector<Running> running_;
  int64_t waiting_ = 0;
  int64_t virtual_us_ = 0;  // The virtual time of the job that started last.
  uint64_t last_id_ = 0, last_turn_ = 0;
};

}  // namespace hlod::device
