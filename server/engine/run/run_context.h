// What a run is given besides memory, and how its steps notice that it has to stop.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace hlod {
class Meeting;
namespace hlo {
class Channels;
}
}  // namespace hlod

namespace hlod::engine {

class StrayCalls;

// What a run is given besides memory. Reused from run to run; not shared by concurrent runs.
struct RunContext {
  // Looked at before each step and in each loop turn: DEADLINE_EXCEEDED.
  absl::Time deadline = absl::InfiniteFuture();
  const std::atomic<bool>* cancel = nullptr;  // Likewise: CANCELLED. Not owned.
  uint32_t replica_id = 0, partition_id = 0;
  // Of a program of several members: where they meet, and which one this is. Not owned.
  Meeting* meeting = nullptr;
  int member = 0;
  // Of infeed, outfeed, send and recv; null: they fail. Not owned.
  hlo::Channels* channels = nullptr;
  // Of library calls that cannot be stopped; null: the run waits for their end. Not owned.
  StrayCalls* strays = nullptr;
};

inline bool IsCancelled(const RunContext& run) {
  return run.cancel != nullptr && run.cancel->load(std::memory_order_relaxed);
}

// What a step looks through at least each 10 ms, in each of its threads, to see whether the run has to stop.
class StopCheck {
 public:
  explicit StopCheck(const RunContext& run) : run_(run) {}
  // Counts `work`, about a nanosecond each; true once the run was cancelled or its deadline has passed.
  bool Stops(int64_t work) {
    if ((left_ -= work) > 0) return false;
    left_ = kWorkBetweenChecks;
    return MustStop(run_);
  }
  // Calls body(begin, end) on consecutive pieces of [0, count), an item being about `work_each` nanoseconds.
  // False when the run has to stop: then the rest was left out.
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
  // How many items of `work_each` nanoseconds are done between two checks.
  static int64_t PieceOf(int64_t work_each) {
    return std::max<int64_t>(1, kPieceWork / std::max<int64_t>(1, work_each));
  }
  static bool MustStop(const RunContext& run) {
    return IsCancelled(run) || (run.deadline != absl::InfiniteFuture() && IsLate(run));
  }
  // CANCELLED or DEADLINE_EXCEEDED when the run must stop, else OK.
  static absl::Status Verdict(const RunContext& run) {
    return MustStop(run) ? WhyStopped(run) : absl::OkStatus();
  }
  // The same at the end of a step that counted at most `work` by Stops: one too short to have been left early
  // does not look.
  static absl::Status VerdictAfter(int64_t work, const RunContext& run) {
    return work < kWorkBetweenChecks ? absl::OkStatus() : Verdict(run);
  }

  // Of one piece, in nanoseconds: a tenth of the 10 ms, since estimates are rough and machines busy.
  static constexpr int64_t kPieceWork = 1'000'000;

 private:
  static bool IsLate(const RunContext& run);
  static absl::Status WhyStopped(const RunContext& run);

  static constexpr int64_t kWorkBetweenChecks = 100'000;
  const RunContext& run_;
  int64_t left_ = kWorkBetweenChecks;
};

// A memcpy that may be long. CANCELLED or DEADLINE_EXCEEDED when it was left unfinished.
absl::Status CopyBytes(const std::byte* from, std::byte* to, int64_t bytes, const RunContext& run);

}  // namespace hlod::engine
