// Work of many sessions and the threads that run it: a device's executes, large copies, compiles.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "common/base/system/mutex.h"
#include "server/device/execution/fair_schedule.h"

namespace hlod::device {

// Sessions take turns by the time that their jobs took (FairSchedule). Thread-safe.
class FairQueue {
 public:
  using Job = FairSchedule::Job;
  struct Options {
    std::string name;  // Of the threads, at most 15 bytes: what `top` shows.
    FairSchedule::Options schedule;
    // A job that is expected to be shorter, and may start at once, runs on the thread that submits it: a hop
    // to another one costs 8-50 us.
    double inline_us_max = 0;
    // Of the threads: 19 leaves the cores to all others. Where it cannot be set, they have none.
    int nice = 0;
  };
  explicit FairQueue(Options options);
  ~FairQueue();
  FairQueue(const FairQueue&) = delete;
  FairQueue& operator=(const FairQueue&) = delete;

  // FairSchedule::SetOwner.
  void SetOwner(uint64_t session, uint64_t owner) {
    MutexLock lock(&mu_);
    schedule_.SetOwner(session, owner);
  }
  // Runs the job now or later. Jobs may submit jobs; an exception that a job lets out is logged and ends only
  // that job.
  void Submit(uint64_t session, double expected_us, Job job);
  // FairSchedule::Postpone, to be called by a running job.
  bool Postpone(uint64_t session, double expected_us, Job again);
  // While it lives, the job on this thread waits for its client, and leaves its place to others; then it goes
  // on beside what has started meanwhile. One job of a session at a time: of a further one, and of a thread
  // that runs no job of the queue, it does nothing.
  class Pause {
   public:
    explicit Pause(FairQueue& queue);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    FairQueue* queue_ = nullptr;
  };
  // Drops the jobs of an ended session that have not started.
  void Discard(uint64_t session);
  // Drops what has not started and waits for what runs; what is submitted later is dropped.
  void Stop();
  // Jobs that wait or run.
  int64_t length() const;
  // FairSchedule::ListRunning.
  std::vector<FairSchedule::RunningJob> ListRunning() const;

 private:
  // How many threads are kept. With jobs that start beside others there is always an idle thread, which
  // watches the time for them.
  size_t ThreadsKept() const;
  void AddThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Moves this thread's handle to where the next thread that starts, or Stop, joins it.
  void Retire() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Drive();
  // The next job, or nothing when the thread has to end.
  std::optional<FairSchedule::Started> AwaitJob();
  // A thread of the queue looks for the next job by itself; `here` is any other.
  void Run(uint64_t session, uint64_t id, Job job, bool here);
  // Wakes an idle thread when there is something for it to start, or to watch earlier than it does.
  void Wake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  mutable Mutex mu_;
  FairSchedule schedule_ ABSL_GUARDED_BY(mu_);
  std::list<std::thread> threads_ ABSL_GUARDED_BY(mu_), retired_ ABSL_GUARDED_BY(mu_);
  // Idle threads, each by what wakes it; the one that ran last is the last, and the first to be woken: its
  // caches and its OpenMP team are warm.
  std::list<CondVar*> idle_ ABSL_GUARDED_BY(mu_);
  // When an idle thread looks again on its own.
  int64_t watched_us_ ABSL_GUARDED_BY(mu_) = FairSchedule::kNever;
  absl::flat_hash_set<uint64_t> paused_
      ABSL_GUARDED_BY(mu_);  // Sessions with a job that waits for its client.
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hlod::device
