// A run as a trace that Perfetto and chrome://tracing open (Chrome's Trace Event Format, JSON).
#pragma once

#include <string>
#include <vector>

#include "client/report/page/log.h"
#include "client/report/page/memory.h"

namespace hlod::report {

// A period or an instant on a track.
struct TraceSlice {
  std::string name;
  double begin_us = 0, us = 0;
  bool instant = false;
  std::string line;
  uint64_t step = 0;  // 0 if it belongs to no particular step.
  Json args;          // Displayed together with line and step.
};

// Slices of one kind that do not overlap, in order. Slices that overlap are on further lanes of the same
// name.
struct TraceTrack {
  std::string name;
  int lane = 0;
  std::vector<TraceSlice> slices;
};

// The program, or one session of a daemon.
struct TraceProcess {
  std::string name;
  std::vector<TraceTrack> tracks;
};

struct Trace {
  std::string program, started;
  std::vector<TraceProcess> processes;  // The processes, of which the program's is the first.
  std::vector<MemoryPoint> memory;      // The memory, by the trace's clock.
};

// Returns the trace of a run. Tracks of the program: trace, lower, compile (serialised and sent), send,
// transfers, waits, host functions, steps. Tracks of the daemon for each session: queue, execute, compile.
// Times begin at 0.
//
// The daemon has a clock of its own. When each of its last runs is known to belong to one close, its tracks
// are moved so that no execute begins before it was sent; otherwise they begin at 0 by themselves.
//
// `memory` is the run's.
Trace TraceOf(const Profile& run, const Memory& memory);
inline Trace TraceOf(const Profile& run) { return TraceOf(run, MemoryOf(run)); }

// Returns the contents of the trace file, with the device memory as a counter. Every slice has the source
// line among its arguments.
Json ToJson(const Trace& trace);

}  // namespace hlod::report
