// Expands the groups of a collective from any of the forms in which a program states them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "common/hlo/module.h"

namespace hlod::hlo {

// The limit on the number of ids in all groups together, so that a few numbers cannot become a large table.
inline constexpr int64_t kGroupParticipantsMax = 1 << 20;

// Returns true if the groups of a collective may differ in size, as XLA's verifier has it: only the shape of
// an all-reduce does not depend on them.
bool MayHaveUnevenGroups(Opcode opcode);

// Returns INVALID_ARGUMENT unless groups are not empty and, except with `uneven`, have the same size, each id
// is nonnegative and in one group only, and the numbers of an iota or a mesh are consistent and within
// kGroupParticipantsMax.
absl::Status CheckGroups(const ReplicaGroups& groups, bool uneven = false);

// Returns the number of ids per group (of the first group if they are uneven), or nullopt when the program
// does not state groups and all devices are one group. REQUIRES: CheckGroups.
std::optional<int64_t> GroupSize(const ReplicaGroups& groups);
// Returns the number of devices that all groups name together, without listing them. REQUIRES: CheckGroups.
int64_t GroupDevices(const ReplicaGroups& groups);

// Returns the groups as lists; empty when all devices are one group. REQUIRES: CheckGroups.
std::vector<Dims> ListGroups(const ReplicaGroups& groups);

// Returns true when an instruction splits whole arrays into the partitions' shares, or joins shares, as in
// the lowering of jax.shard_map; outside of these instructions such a program has whole arrays.
bool CutsWholeArrays(const Module& module);

// Returns true when an instruction reads its partition's id, communicates with others or splits arrays for
// them. Otherwise partitions are only annotations, and the program computes the same with one partition.
bool DependsOnPartition(const Module& module);

// Returns OK when only device 0 takes part in a collective, the only case that a program of one replica and
// one partition can run. UNIMPLEMENTED, with the instruction, the other device and the limit, otherwise.
absl::Status CheckOneParticipant(Instruction collective);

}  // namespace hlod::hlo
