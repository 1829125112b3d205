// Runs manual computations (jax.shard_map, jax.pmap) among partitions without a partitioner: outside of them
// every partition has whole arrays, and computes the same; inside, it has its own parts. An instruction that
// splits an array becomes a slice by the partition's number, and one that joins parts becomes an all-gather.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod::passes {

// Returns true when arrays are split or joined: SPMDFullToShardShape, SPMDShardToFullShape,
// xla.sdy.GlobalToLocalShape, xla.sdy.LocalToGlobalShape.
bool HasManualComputations(const hlo::Module& module);

// Returns the module without these instructions. UNIMPLEMENTED or INVALID_ARGUMENT, with the instruction,
// when its sharding does not determine the part of each partition: there is none, its mesh has its own order
// of devices, or it implies parts of another size. RESOURCE_EXHAUSTED when the number of partitions times
// arrays is too large.
absl::StatusOr<std::unique_ptr<hlo::Module>> ExpandManual(const hlo::Module& module);

}  // namespace hlod::passes
