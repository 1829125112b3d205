// Splitting a loop over the engine's one OpenMP team. Small work stays on the calling thread: a fork costs
// about a microsecond.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "common/base/arithmetic.h"

namespace hlod::engine {

// Below this many elements of work a loop runs on the calling thread.
inline constexpr int64_t kParallelElementsMin = 64 * 1024;

// a * b, or INT64_MAX: an amount of work, of which only the size matters.
inline int64_t WorkOf(int64_t a, int64_t b) { return CheckedMultiply(a, b).value_or(INT64_MAX); }

// Calls body(begin, end, worker) on disjoint ranges that cover [0, count); worker < threads. `elements` is
// the whole loop's work, and decides whether it is worth a team. Bodies must not throw.
template <typename Body>
void ParallelRanges(int threads, int64_t count, int64_t elements, Body&& body) {
  const int team = static_cast<int>(std::min<int64_t>(threads, count));
  if (team <= 1 || elements < kParallelElementsMin) {
    if (count > 0) body(int64_t{0}, count, 0);
    return;
  }
#pragma omp parallel for num_threads(team) schedule(static, 1)
  for (int worker = 0; worker < team; ++worker) {
    // Without forming count * worker, which could overflow for no real array but is easy to avoid.
    const int64_t share = count / team, rest = count % team;
    const int64_t begin = share * worker + std::min<int64_t>(worker, rest);
    const int64_t end = begin + share + (worker < rest ? 1 : 0);
    body(begin, end, worker);
  }
}

}  // namespace hlod::engine
