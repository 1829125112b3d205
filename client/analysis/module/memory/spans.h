// The lives of all buffers of a module on one axis of time: a run of the entry, with one iteration of each
// loop and every branch.
#pragma once

#include <cstdint>
#include <vector>

#include "client/analysis/module/memory/lives.h"

namespace hlod::analysis {

// The ticks during which bytes are in use, both ends included.
struct Ticks {
  int64_t first = 0, last = 0;
};

// A buffer in memory for a while. What other computations need at one instruction may be one span.
struct Span {
  Ticks ticks;
  int64_t bytes = 0;
  const Lives* lives = nullptr;  // The computation; null for the need of others.
  size_t buffer = 0;
};

struct Timeline {
  std::vector<Span> temporaries;
  // The ticks, per leaf of the entry's result, during which the result, or an array that becomes it, is in
  // its memory.
  std::vector<std::vector<Ticks>> results;
  std::vector<Ticks> entry;  // By position of the entry's schedule.
};

// Returns the spans of the last of `lives`, the entry's; they are by computation, null where a computation is
// not run. `needs` has the most bytes alive at once by computation, which stand for computations that are run
// so often that the spans would be too many.
Timeline TimelineOf(const std::vector<const Lives*>& lives, const std::vector<int64_t>& needs);

}  // namespace hlod::analysis
