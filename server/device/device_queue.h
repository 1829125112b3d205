// What waits to run on one device: jobs by session, taken in turn, one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>

#include "absl/container/flat_hash_map.h"
#include "server/device/mutex.h"

namespace hlod::device {

// A driver thread takes the sessions round-robin, so that none waits for another's whole queue. A job that is
// expected to be shorter than a hop to another thread runs on the thread that hands it in, when the device is
// idle. Thread-safe.
class DeviceQueue {
 public:
  using Job = std::function<void()>;
  // A hop to another thread costs 8-50 us (shared/facts: limits).
  static constexpr double kInlineUsMax = 20;

  explicit DeviceQueue(uint32_t ordinal);
  // Runs what is queued, then stops.
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  // Runs the job now or later; jobs of one session run in the order they were handed in. Jobs may submit
  // jobs.
  void Submit(uint64_t session, double estimate_us, Job job);
  // Jobs that wait or run.
  int64_t length() const;
  // Waits until nothing waits or runs, at most so long; whether it became so.
  bool Drain(std::chrono::microseconds timeout);

 private:
  void Drive();

  mutable Mutex mu_;
  CondVar changed_;
  absl::flat_hash_map<uint64_t, std::deque<Job>> jobs_ ABSL_GUARDED_BY(mu_);
  std::deque<uint64_t> turns_ ABSL_GUARDED_BY(mu_);  // Sessions with jobs, the next one first.
  int64_t queued_ ABSL_GUARDED_BY(mu_) = 0;
  bool running_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread driver_;
};

}  // namespace hlod::device
