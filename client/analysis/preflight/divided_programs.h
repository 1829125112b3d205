// The programs of a run that were divided among the devices of a mesh: what one device exchanges with others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "client/analysis/mesh/mesh_check.h"
#include "client/analysis/module/chips/chips.h"
#include "client/analysis/preflight/preflight_log.h"

namespace hlod::analysis {

// A program, and the runs of it that the log has.
struct DividedProgram {
  MeshReport report;
  int64_t runs = 0;
  int64_t runs_per_step = 0;  // In the step that runs it most often.
};

// Returns the divided programs of a run, the most time of network first, without a target the most bytes.
// `target` has all chips. INVALID_ARGUMENT if a log is not consistent, and the errors of CheckMesh.
absl::StatusOr<std::vector<DividedProgram>> DividedProgramsOf(const std::vector<PreflightLog>& sessions,
                                                              const std::optional<Target>& target);

// Returns the network's use by the divided programs of a step; nullopt when the network is not known.
std::optional<NetworkTotals> NetworkOfStep(const std::vector<DividedProgram>& programs);

}  // namespace hlod::analysis
