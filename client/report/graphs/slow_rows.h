// The slow paths of a run.
#pragma once

#include <vector>

#include "hlod/observe/graph_report.h"

namespace hlod::report {

// Returns a row for each slow step of each program that the accounts have, and for each line that took a slow
// path of the process. The one that took the most time is first.
std::vector<SlowRow> SlowRows(const Profile& run);

}  // namespace hlod::report
