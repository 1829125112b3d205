// Queues for the jobs of many sessions, and the threads that run them: a device's executes, large copies,
// compiles.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/system/mutex.h"
#include "server/device/execution/fair_schedule.h"
#include "server/device/failed_sessions.h"

namespace hlod::device {

// Shares the time between sessions by how long their jobs took (FairSchedule). Thread-safe.
class FairQueue {
 public:
  using Job = FairSchedule::Job;
  struct Options {
    std::string name;  // The name of the threads, at most 15 bytes, as `top` displays it.
    FairSchedule::Options schedule;
    // A job that is expected to take less than this, and may start at once, runs on the submitting thread.
    // Handing a job to another thread costs 8-50 us.
    double inline_us_max = 0;
    // Added to the nice value of the thread that makes the queue, for the queue's threads; up to 19, which
    // yields the cores to all other threads. If it cannot be set, the threads keep the one they start with.
    int nice = 0;
    // True for a simulation: there is no thread. RunNext runs the jobs, on a clock that it advances itself,
    // and Submit runs none.
    bool manual = false;
    // Gets the session of a job that throws. May be null.
    FailedSessions* failed = nullptr;
  };
  explicit FairQueue(Options options);
  ~FairQueue();
  FairQueue(const FairQueue&) = delete;
  FairQueue& operator=(const FairQueue&) = delete;

  // See FairSchedule::SetOwner.
  void SetOwner(uint64_t session, uint64_t owner) {
    MutexLock lock(&mu_);
    schedule_.SetOwner(session, owner);
  }
  // Runs the job now or later. Jobs may submit jobs. An exception that a job throws is logged, ends only that
  // job, and makes its session a failed one.
  void Submit(uint64_t session, double expected_us, Job job);
  // Runs the next job on this thread. Returns false when none may start. REQUIRES: Options::manual.
  bool RunNext();
  // See FairSchedule::Postpone. To be called by a running job.
  bool Postpone(uint64_t session, double expected_us, Job again);
  // While a Pause exists, the job on this thread waits for its client, and another job may start in its
  // place; afterwards it continues beside the jobs that have started meanwhile. Up to kPausesMax jobs of a
  // session may pause at a time, since each keeps a thread. A Pause has no effect for further jobs, and on a
  // thread that does not run a job of the queue.
  static constexpr int kPausesMax = 8;
  class Pause {
   public:
    explicit Pause(FairQueue& queue);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    FairQueue* queue_ = nullptr;
  };
  // While a NoneHere exists on a thread, Submit runs no job on it: others wait for what this thread does, and
  // a job that is expected to be short may be long.
  class NoneHere {
   public:
    NoneHere();
    ~NoneHere();
    NoneHere(const NoneHere&) = delete;
    NoneHere& operator=(const NoneHere&) = delete;
  };
  // Drops the jobs of an ended session that have not started.
  void Discard(uint64_t session);
  // Drops the jobs that have not started and waits for running ones. Jobs submitted later are dropped.
  void Stop();
  // See FairSchedule::OthersWait.
  bool OthersWait(uint64_t session) const {
    MutexLock lock(&mu_);
    return schedule_.OthersWait(session);
  }
  // The number of jobs that wait or run.
  int64_t length() const;
  // See FairSchedule::ListRunning.
  std::vector<FairSchedule::RunningJob> ListRunning() const;

 private:
  // Returns the number of threads to keep. If jobs may start beside others, one thread is always idle and
  // waits for the time to start them.
  size_t ThreadsKept() const;
  int64_t NowUs() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void AddThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Moves this thread's handle to a list; the next thread that starts, or Stop, joins the thread.
  void Retire() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Drive();
  // Returns the next job, or nullopt when the thread must end.
  std::optional<FairSchedule::Started> AwaitJob();
  // Runs a job. `here` is false on a thread of the queue, which looks for its next job by itself.
  void Run(uint64_t session, uint64_t id, Job job, bool here);
  // Wakes an idle thread when there is a job for it to start, or an earlier time to wait for.
  void Wake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  const int nice_;  // The nice value of the threads, also of those that a thread of the queue starts.
  mutable Mutex mu_;
  FairSchedule schedule_ ABSL_GUARDED_BY(mu_);
  std::list<std::thread> threads_ ABSL_GUARDED_BY(mu_), retired_ ABSL_GUARDED_BY(mu_);
  // The condition variables of idle threads. The thread that ran last is at the back and is woken first,
  // because its caches and its OpenMP team are warm.
  std::list<CondVar*> idle_ ABSL_GUARDED_BY(mu_);
  // The time at which an idle thread checks again without being woken.
  int64_t watched_us_ ABSL_GUARDED_BY(mu_) = FairSchedule::kNever;
  // The number of jobs that wait for their client, by session and in all.
  absl::flat_hash_map<uint64_t, int> paused_ ABSL_GUARDED_BY(mu_);
  size_t all_paused_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  int64_t manual_us_ ABSL_GUARDED_BY(mu_) = 0;  // The time of a manual queue.
};

}  // namespace hlod::device
