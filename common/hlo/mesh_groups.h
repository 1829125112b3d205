// Groups of devices that are named by axes of a mesh.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/shape.h"
#include "proto/xla/xla_data.pb.h"

namespace hlod::hlo {

// The devices of a mesh along some of its axes, or factors of them: a list for each place along the others.
// In a list the first of the axes varies slowest; lists go by their places, the mesh's first axis slowest
// (XLA: MeshAxesReplicaGroupList). INVALID_ARGUMENT when the mesh has other than its devices, or more than
// `devices_max`, or when the axes do not exist, do not divide, or overlap.
absl::StatusOr<std::vector<Dims>> MeshGroups(const xla::MeshAxesReplicaGroupListProto& list,
                                             int64_t devices_max);

// The same errors, without counting the devices out.
absl::Status CheckMeshGroups(const xla::MeshAxesReplicaGroupListProto& list, int64_t devices_max);
// How many devices there are, and how many in a group. REQUIRES: CheckMeshGroups.
std::pair<int64_t, int64_t> MeshGroupCounts(const xla::MeshAxesReplicaGroupListProto& list);

}  // namespace hlod::hlo
