// The bytes that a module moves between a device's memory and its units.
#pragma once

#include "client/analysis/module/placement.h"

namespace hlod::analysis {

// Returns the bytes read and written by the steps that are left after fusion. A loop counts times its trip
// count, or once when that is not known; of branches the one that moves most counts.
double TrafficOf(const Placements& placements);

}  // namespace hlod::analysis
