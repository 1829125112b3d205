// The number of devices that a module's annotations divide it among.
#pragma once

#include <cstdint>

#include "common/hlo/module.h"

namespace hlod::cli {

// Returns the number of devices that the shardings of a module's arrays are for; 1 when no array has one, and
// when the module is to be run by several participants as it is.
int64_t ShardingDevices(const hlo::Module& module);

// Returns false when the environment asks that programs run undivided (HLOD_PARTITION=0).
bool IsPartitioningWanted();

}  // namespace hlod::cli
