// The meshes of partitioned programs, as options and reports write them. The axes are named, slowest first:
// device 1 is the second one along the last axis. GSPMD's shardings name no axes: then there is one, without
// a name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/hlo/text/shardy.h"

namespace hlod::partition {

// Parses "data=4,model=2". INVALID_ARGUMENT names the malformed axis, or one that occurs twice; a mesh has at
// most 2^20 devices.
absl::StatusOr<hlo::Mesh> ParseMesh(std::string_view text);

// Returns "data=4,model=2".
std::string MeshText(const hlo::Mesh& mesh);

}  // namespace hlod::partition
