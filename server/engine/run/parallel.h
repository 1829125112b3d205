// Splits a loop over the engine's one OpenMP team. Small work stays on the calling thread, because a fork
// costs about a microsecond.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "common/base/arithmetic.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// The work, in elements, below which a loop runs on the calling thread.
inline constexpr int64_t kParallelElementsMin = 64 * 1024;

// Returns a * b, at most INT64_MAX: an amount of work, of which only the magnitude matters.
inline int64_t WorkOf(int64_t a, int64_t b) { return CheckedMultiply(a, b).value_or(INT64_MAX); }

// Calls body(begin, end, worker) on disjoint ranges that cover [0, count), where worker < threads. `elements`
// is the whole loop's work, and decides whether it is worth a team. Bodies must not throw.
template <typename Body>
void ParallelRanges(int threads, int64_t count, int64_t elements, Body&& body) {
  const int team = static_cast<int>(std::min<int64_t>(threads, count));
  if (team <= 1 || elements < kParallelElementsMin) {
    if (count > 0) body(int64_t{0}, count, 0);
    return;
  }
#pragma omp parallel for num_threads(team) schedule(static, 1)
  for (int worker = 0; worker < team; ++worker) {
    // Avoids count * worker, which could overflow (though for no real array).
    const int64_t share = count / team, rest = count % team;
    const int64_t begin = share * worker + std::min<int64_t>(worker, rest);
    const int64_t end = begin + share + (worker < rest ? 1 : 0);
    body(begin, end, worker);
  }
}

// Like ParallelRanges, for loops that may run long: each worker calls body(begin, end, worker) on its range
// in pieces, and checks cancel and deadline between them. `work` is the work of the whole loop, in units of
// about a nanosecond; no item may be much more than StopCheck::kPieceWork. Returns CANCELLED or
// DEADLINE_EXCEEDED when items were left out.
template <typename Body>
absl::Status ParallelPieces(const StepContext& context, int threads, int64_t count, int64_t work,
                            Body&& body) {
  if (work <= StopCheck::kPieceWork) {
    ParallelRanges(threads, count, work, std::forward<Body>(body));
    return absl::OkStatus();
  }
  const int64_t pieces = work / StopCheck::kPieceWork + 1, piece = std::max<int64_t>(1, count / pieces);
  ParallelRanges(threads, count, work, [&](int64_t begin, int64_t end, int worker) {
    for (int64_t at = begin; at < end && !StopCheck::MustStop(context.run);) {
      const int64_t next = end - at > piece ? at + piece : end;
      body(at, next, worker);
      at = next;
    }
  });
  return StopCheck::Verdict(context.run);
}
template <typename Body>
absl::Status ParallelPieces(const StepContext& context, int64_t count, int64_t work, Body&& body) {
  return ParallelPieces(context, context.threads, count, work, std::forward<Body>(body));
}

// Writes zeros on the team, stopping as ParallelPieces does.
inline absl::Status FillZeros(const StepContext& context, std::byte* to, int64_t bytes) {
  return ParallelPieces(context, bytes, bytes / 16, [&](int64_t begin, int64_t end, int) {
    std::memset(to + begin, 0, static_cast<size_t>(end - begin));
  });
}

}  // namespace hlod::engine
