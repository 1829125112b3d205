// The report of a run on one page: memory over time and the largest buffers at its peak, transfers by step
// and cause, graphs and why they ended, compiles, and how near the programs come to what a chip can do.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "client/analysis/module/chips/chips.h"
#include "client/analysis/module/cost.h"
#include "client/report/page/log.h"
#include "client/report/page/memory.h"

namespace hlod::report {

struct ReportOptions {
  std::map<std::string, analysis::Cost> costs;  // The costs by digest, for programs whose modules are known.
  std::optional<analysis::Target> target;
};

// Sizes in bytes, times in microseconds since the run's first event. Its keys:
//   run        program started sessions daemon complete steps events seconds
//   totals     host_to_device device_to_host device_to_device (bytes calls) compiles, executes,
//              found_in_program (graphs whose program this process had), found_by_daemon (programs that the
//              daemon had), peak_bytes (as the daemon counted, of all sessions)
//   first      rows of FirstThings (first.h)
//   timeline   lanes and steps of TimelineOf (timeline.h)
//   memory     kinds points[at bytes [by kind]] peak_bytes peak_us largest[name kind shape bytes origin
//              since_us] others others_bytes
//   transfers  by_step[step cause direction bytes calls] by_line[origin name cause direction bytes calls]
//   graphs     rows[cause meaning operation origin count steps compiled nodes results backward residual
//              held_bytes trace_us lower_us send_us wait_us] host_functions[name origin count us]
//   compiles   rows[at_us us name program reason why outcome origin step instructions temporary_bytes]
//   programs   rows[name program count run_us queue_us peak_bytes flops bytes]
//   chip       name flops bandwidth source, when there is a target
Json MakeReport(const Profile& run, const ReportOptions& options = {});
// The same of a run whose memory over time was computed before, which takes a pass over all events.
Json MakeReport(const Profile& run, const Memory& memory, const ReportOptions& options);

// Returns the page with the report inside: one file that needs no network.
std::string MakePage(const Json& report);

}  // namespace hlod::report
