// How many bytes a module moves between a device's memory and its units.
#pragma once

#include "client/analysis/module/placement.h"

namespace hlod::analysis {

// Bytes read and written by the steps that are left after fusion, loops times their trip counts where these
// are known, of branches the one that moves most.
double TrafficOf(const Placements& placements);

}  // namespace hlod::analysis
