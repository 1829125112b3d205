// The context of a run besides its memory, and the checks by which its steps find out that they must stop.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace hlod {
class Rendezvous;
namespace hlo {
class Channels;
}
}  // namespace hlod

namespace hlod::engine {

class AbandonedCalls;
class AssemblyUser;
struct StepTimes;

// The context of a run besides its memory. It can be reused from run to run, but not shared by concurrent
// runs.
struct RunContext {
  // Checked before each step and in each loop iteration; the run then returns DEADLINE_EXCEEDED.
  absl::Time deadline = absl::InfiniteFuture();
  const std::atomic<bool>* cancel = nullptr;  // Checked at the same times; the run then returns CANCELLED.
                                              // Not owned.
  uint32_t replica_id = 0, partition_id = 0;
  // For a program of several participants, their rendezvous, and the number of this one. Not owned.
  Rendezvous* rendezvous = nullptr;
  int participant = 0;
  // The channels of infeed, outfeed, send and recv, which fail when it is null. Not owned.
  hlo::Channels* channels = nullptr;
  // For library calls that cannot be stopped; when it is null, the run waits for their end. Not owned.
  AbandonedCalls* strays = nullptr;
  // The user who gives the time and the memory for machine code. When it is null, the run requests none. Not
  // owned.
  AssemblyUser* assembly = nullptr;
  // Filled with the time of each step when it is not null. Not owned.
  StepTimes* times = nullptr;
};

inline bool IsCancelled(const RunContext& run) {
  return run.cancel != nullptr && run.cancel->load(std::memory_order_relaxed);
}

// Checks whether a run must stop. Each thread of a step uses one, at least every 10 ms.
class StopCheck {
 public:
  explicit StopCheck(const RunContext& run) : run_(run) {}
  // Counts `work`, in units of about a nanosecond. Returns true once the run was cancelled or its deadline
  // has passed.
  bool Stops(int64_t work) {
    if ((left_ -= work) > 0) return false;
    left_ = kWorkBetweenChecks;
    return MustStop(run_);
  }
  // Calls body(begin, end) on consecutive pieces of [0, count), where an item takes about `work_each`
  // nanoseconds. Returns false when the run must stop; then the remaining items are left out.
  template <typename Body>
  bool ForPieces(int64_t count, int64_t work_each, Body&& body) {
    if (int64_t work; !__builtin_mul_overflow(count, work_each, &work) && work <= kPieceWork) {
      if (count > 0) body(int64_t{0}, count);
      return !Stops(work);
    }
    const int64_t piece = PieceOf(work_each);
    for (int64_t begin = 0; begin < count; begin += piece) {
      const int64_t end = std::min(count, begin + piece);
      body(begin, end);
      if (Stops((end - begin) * work_each)) return false;
    }
    return true;
  }
  // Returns the number of items of `work_each` nanoseconds that are done between two checks.
  static int64_t PieceOf(int64_t work_each) {
    return std::max<int64_t>(1, kPieceWork / std::max<int64_t>(1, work_each));
  }
  static bool MustStop(const RunContext& run) {
    return IsCancelled(run) || (run.deadline != absl::InfiniteFuture() && IsLate(run));
  }
  // Returns CANCELLED or DEADLINE_EXCEEDED when the run must stop, else OK.
  static absl::Status Verdict(const RunContext& run) {
    return MustStop(run) ? WhyStopped(run) : absl::OkStatus();
  }
  // Returns the verdict at the end of a step that counted at most `work` by Stops. A step that was too short
  // to have stopped early does not check.
  static absl::Status VerdictAfter(int64_t work, const RunContext& run) {
    return work < kWorkBetweenChecks ? absl::OkStatus() : Verdict(run);
  }

  // The work of one piece, in nanoseconds: a tenth of the 10 ms, because estimates are rough and machines
  // busy.
  static constexpr int64_t kPieceWork = 1'000'000;

 private:
  static bool IsLate(const RunContext& run);
  static absl::Status WhyStopped(const RunContext& run);

  static constexpr int64_t kWorkBetweenChecks = 100'000;
  const RunContext& run_;
  int64_t left_ = kWorkBetweenChecks;
};

// Runs a memcpy that may take long. Returns CANCELLED or DEADLINE_EXCEEDED when it was left unfinished.
absl::Status CopyBytes(const std::byte* from, std::byte* to, int64_t bytes, const RunContext& run);

}  // namespace hlod::engine
