// Groups of devices by the axes of a mesh, as StableHLO writes them.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/import/convert/decoration.h"
#include "common/hlo/attributes.h"

namespace hlod::stablehlo {

// Parses '#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>'. The
// mesh may be written out (#stablehlo.mesh<axes = [...]>), and axes may be factors of axes (sub_axis_info =
// (1)2). Errors name the unexpected text, or the unknown mesh or axis.
absl::StatusOr<hlo::ReplicaGroups> MeshAxesGroups(std::string_view text, const Meshes& meshes);

}  // namespace hlod::stablehlo
