// The groups of a collective, expanded from whichever form a program states them in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// What bounds the ids of all groups together, so that a few numbers do not become a large table.
inline constexpr int64_t kGroupMembersMax = 1 << 20;

// INVALID_ARGUMENT unless groups are not empty and of one size, each id is not negative and in one group
// alone, and the numbers of an iota or a mesh agree with one another and with kGroupMembersMax.
absl::Status CheckGroups(const ReplicaGroups& groups);

// Members of each group; nothing when the program does not say: all devices. REQUIRES: CheckGroups.
std::optional<int64_t> GroupSize(const ReplicaGroups& groups);
// How many devices the groups name together, without listing them. REQUIRES: CheckGroups.
int64_t GroupDevices(const ReplicaGroups& groups);

// The groups as lists; empty when all devices are one. REQUIRES: CheckGroups.
std::vector<Dims> ListGroups(const ReplicaGroups& groups);

// Returns true when an instruction cuts whole arrays into the shares of the partitions, or puts them together
// again, as jax.shard_map is lowered: the rest of such a program has whole arrays.
bool CutsWholeArrays(const Module& module);

// Returns true when an instruction asks for its partition, meets others or cuts arrays up for them.
// Partitions of a program without any are annotated alone: the program computes the same as one.
bool DependsOnPartition(const Module& module);

// OK when nobody but device 0 takes part in a collective, which is all that a program of one replica and one
// partition can do; it is its own partner then. UNIMPLEMENTED naming the instruction, the other device and
// the limit.
absl::Status CheckOneParticipant(Instruction collective);

}  // namespace hlod::hlo
