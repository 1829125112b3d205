// A run as a trace that Perfetto and chrome://tracing open (Chrome's Trace Event Format, JSON).
#pragma once

#include "client/report/run_json.h"

namespace hlod::report {

// Tracks of the program: trace, lower, compile (serialised and sent), send, transfers, waits, host functions,
// steps, and the device memory as a counter. Tracks of the daemon for each session: queue, execute, compile.
// Every slice has the source line among its arguments. What overlaps goes on a second track of the same name.
//
// The daemon's clock is another one. Where each of its last runs is known to be of one close, its tracks are
// moved so that no execute begins before it was sent; else they stand by themselves, from 0.
Json MakeTrace(const RunJson& run);

}  // namespace hlod::report
