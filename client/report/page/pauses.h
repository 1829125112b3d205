// The lines at which a program waits for the device: blocking reads, and waits for all that was sent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/report/page/log.h"

namespace hlod::report {

struct PauseRow {
  std::string line;
  bool reads = false;  // Reads of values; false: waits for all commands.
  int64_t times = 0, bytes = 0;
  // The time that the run would be shorter at most without all but one of them. A program that waits works in
  // turn with the device; otherwise both work at once, so that the shorter of two times is saved: that of the
  // waits, without the longest one (which has the first run's compile in it), and that of the program's own
  // work between them.
  double saves_us = 0;
};

// Returns a row per line and kind, in the order of lines. The values that host callbacks take are left out:
// the program waits there for its own callbacks.
std::vector<PauseRow> PausesOf(const Profile& run);

}  // namespace hlod::report
