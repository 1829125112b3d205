// The things to mend first: the graph breaks, recompiles, repeated waits and transfers, and slow paths of a
// run, by their costs.
#pragma once

#include "client/report/page/log.h"
#include "hlod/observe/graph_report.h"

namespace hlod::report {

// Returns rows {kind what origin times bytes saves_us share remedy}, the one that saves most first.
// `saves_us` is for a break the time that its removal saves (hlod/observe/graph_report.h), for a line that
// recompiles the time of its compiles, for a line that waits or reads repeatedly that of PauseRow (pauses.h),
// for a line that uploads repeatedly the time of those calls after the first, for a slow path nine tenths of
// SlowRow::us. `share` is the part of the run's time. Left out are lines that save less than a thousandth of
// the run, and, in a program of tensors, lines that recompile once: the numbers of a trace become parameters
// when they first vary.
Json FirstThings(const GraphReport& graphs, const Profile& run);

}  // namespace hlod::report
