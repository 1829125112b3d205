// The number of devices that a module's annotations divide it among.
#pragma once

#include <cstdint>

#include "common/hlo/module.h"

namespace hlod::cli {

// Returns the number of devices that the shardings of a module's arrays divide them among. Returns 1 when no
// array has a sharding, and when the module is written for several participants already.
int64_t ShardingDevices(const hlo::Module& module);

// Returns false when the environment asks that programs run undivided (HLOD_PARTITION=0).
bool IsPartitioningWanted();

}  // namespace hlod::cli
