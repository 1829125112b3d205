// The times of a run for the page: one lane per phase of the program and of each daemon session, as the trace
// has them.
#pragma once

#include "client/report/page/trace.h"

namespace hlod::report {

// Returns {lanes[{name, process, slices[[begin_us us name line step]]}] steps[[at_us step]] left_out}. The
// order of lanes is tracing, compiling, sending, queueing, device, waiting. Of more than kSlicesMax slices
// the longest are kept, and `left_out` counts the others.
inline constexpr size_t kSlicesMax = 20'000;
Json TimelineOf(const Trace& trace);

}  // namespace hlod::report
