// What to do first: the graph breaks, recompiles, repeated transfers and slow paths of a run, by what each
// costs.
#pragma once

#include "client/report/page/log.h"
#include "hlod/observe/graph_report.h"

namespace hlod::report {

// Returns rows {kind what origin times bytes saves_us share remedy}, the one that saves most first.
// `saves_us`: of a break what its removal saves (hlod/observe/graph_report.h), of a line that recompiles the
// time of its compiles, of a line that uploads again and again the time of those calls after the first, of a
// slow path nine tenths of SlowRow::us. `share`: of the run's time. Lines that save less than a thousandth of
// the run are left out, and lines that recompile once: the numbers of a program become parameters when they
// first vary.
Json FirstThings(const GraphReport& graphs, const Profile& run);

}  // namespace hlod::report
