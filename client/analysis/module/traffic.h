// The bytes that a module moves between a device's memory and its units.
#pragma once

#include "client/analysis/module/placement.h"

namespace hlod::analysis {

// Returns the bytes read and written by the steps that remain after fusion. A loop counts times its trip
// count, or once if that is not known; among branches the one that moves most bytes counts.
double TrafficOf(const Placements& placements);

}  // namespace hlod::analysis
