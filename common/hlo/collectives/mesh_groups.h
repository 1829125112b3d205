// Expands groups of devices that are named by axes of a mesh.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/shape.h"
#include "proto/xla/xla_data.pb.h"

namespace hlod::hlo {

// Returns the devices of a mesh along some of its axes, or factors of them: one list per position along the
// other axes. Within a list the first named axis varies slowest; lists are ordered by position, with the
// mesh's first axis slowest (XLA: MeshAxesReplicaGroupList). INVALID_ARGUMENT when the mesh's devices do not
// fit its axes, when it has more than `devices_max`, or when the named axes do not exist, do not divide, or
// overlap.
absl::StatusOr<std::vector<Dims>> MeshGroups(const xla::MeshAxesReplicaGroupListProto& list,
                                             int64_t devices_max);

// Returns the same errors without listing the devices.
absl::Status CheckMeshGroups(const xla::MeshAxesReplicaGroupListProto& list, int64_t devices_max);
// Returns the number of devices and the number of devices per group. REQUIRES: CheckMeshGroups.
std::pair<int64_t, int64_t> MeshGroupCounts(const xla::MeshAxesReplicaGroupListProto& list);

}  // namespace hlod::hlo
