// What a run is given besides memory, and how its steps notice that it has to stop.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace hlod::engine {

// What a run is given besides memory. Reused from run to run; not shared by concurrent runs.
struct RunContext {
  // Looked at before each step and in each loop turn: DEADLINE_EXCEEDED.
  absl::Time deadline = absl::InfiniteFuture();
  const std::atomic<bool>* cancel = nullptr;  // Likewise: CANCELLED. Not owned.
  uint32_t replica_id = 0, partition_id = 0;
};

inline bool IsCancelled(const RunContext& run) {
  return run.cancel != nullptr && run.cancel->load(std::memory_order_relaxed);
}

// For steps whose work their bytes do not bound: checks now and then, in each thread, whether the run has to
// stop.
class StopCheck {
 public:
  explicit StopCheck(const RunContext& run) : run_(run) {}
  // Counts `work`, about a nanosecond each; true once the run was cancelled or its deadline has passed.
  bool Stops(int64_t work) {
    if ((left_ -= work) > 0) return false;
    left_ = kWorkBetweenChecks;
    return MustStop(run_);
  }
  static bool MustStop(const RunContext& run);
  // CANCELLED or DEADLINE_EXCEEDED when the run must stop, else OK.
  static absl::Status Verdict(const RunContext& run);

 private:
  static constexpr int64_t kWorkBetweenChecks = 100'000;
  const RunContext& run_;
  int64_t left_ = kWorkBetweenChecks;
};

}  // namespace hlod::engine
