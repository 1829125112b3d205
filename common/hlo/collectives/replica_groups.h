// Expands the groups of a collective from any of the forms in which a program states them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// The limit of the ids of all groups together, so that a few numbers cannot become a large table.
inline constexpr int64_t kGroupParticipantsMax = 1 << 20;

// INVALID_ARGUMENT unless groups are not empty and of one size, each id is not negative and in one group
// only, and the numbers of an iota or a mesh agree with one another and with kGroupParticipantsMax.
absl::Status CheckGroups(const ReplicaGroups& groups);

// Returns the number of ids per group, or nullopt when the program does not state groups and all devices are
// one group. REQUIRES: CheckGroups.
std::optional<int64_t> GroupSize(const ReplicaGroups& groups);
// Returns the number of devices that all groups name together, without listing them. REQUIRES: CheckGroups.
int64_t GroupDevices(const ReplicaGroups& groups);

// Returns the groups as lists; empty when all devices are one group. REQUIRES: CheckGroups.
std::vector<Dims> ListGroups(const ReplicaGroups& groups);

// Returns true when an instruction splits whole arrays into the shares of the partitions, or joins the
// shares, as jax.shard_map is lowered; the rest of such a program has whole arrays.
bool CutsWholeArrays(const Module& module);

// Returns true when an instruction asks for its partition, communicates with others or splits arrays for
// them. In a program without such an instruction, partitions are mere annotations: it computes the same with
// one partition.
bool DependsOnPartition(const Module& module);

// Returns OK when only device 0 takes part in a collective, which is the only case that a program of one
// replica and one partition can run (the device is its own partner then). UNIMPLEMENTED, with the
// instruction, the other device and the limit, otherwise.
absl::Status CheckOneParticipant(Instruction collective);

}  // namespace hlod::hlo
