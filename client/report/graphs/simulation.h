// Simulates a lane of a timeline again, as recorded or without one of its lines.
#pragma once

#include <vector>

#include "client/report/graphs/timeline.h"

namespace hlod::report {

// The part of a wait beyond the device's executes: the round trip, and with uploads under way the time until
// the device had them, which is not saved with the wait.
struct WaitOverhead {
  double us = 0, of_uploads_us = 0;
};

// Returns the duration of a lane; `without` is null, or the line to leave out. `overheads`, one per moment,
// are computed when `without` is null.
double Simulate(const std::vector<Piece>& pieces, const ThreadLane& lane, const WaitPoint* without,
                std::vector<WaitOverhead>& overheads);

}  // namespace hlod::report
