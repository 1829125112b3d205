// Programs of several partitions that XLA's partitioner does not divide (divide.h).
//
// The framework gives each partition its part of every argument, and expects its part of every result; the
// program itself is written for whole arrays. So it is wrapped: the parts of an argument are gathered among
// the partitions, every partition computes the whole program, and takes its part of each result. (Inside,
// what a program divides by hand, as jax.shard_map does, is divided.) The results are those of a partitioned
// program; the time and the memory are those of the whole one on each device.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/pjrt/compile/read_program.h"

namespace hlod::pjrt {

// Makes the module one of `partitions` partitions, and states the sharding of each argument and result. A
// result whose sharding is not stated gets the one with which a manual computation or a constraint made its
// value; without that, it is replicated.
absl::Status Partition(ReadProgram& program, int partitions);

}  // namespace hlod::pjrt
