// Computations by hand (jax.shard_map, jax.pmap) among partitions, without a partitioner: outside of them
// each partition has all arrays whole, and computes what the others do; inside it has its own parts. What
// cuts an array becomes a slice by the partition's number, and what joins one an all-gather.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod {

// Whether arrays are cut or joined: SPMDFullToShardShape, SPMDShardToFullShape, xla.sdy.GlobalToLocalShape,
// xla.sdy.LocalToGlobalShape.
bool HasManualComputations(const hlo::Module& module);

// The module without them. UNIMPLEMENTED or INVALID_ARGUMENT names the instruction whose sharding does not
// say which part a partition has: none, one of a mesh with its own order of devices, one that parts of
// another size follow from. RESOURCE_EXHAUSTED when partitions times arrays are too many.
absl::StatusOr<std::unique_ptr<hlo::Module>> ExpandManual(const hlo::Module& module);

}  // namespace hlod
