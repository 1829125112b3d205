// Checks a module for several chips: partitions it, and judges one of them.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/analysis/mesh/mesh_check.h"
#include "client/cli/commands.h"
#include "client/cli/print/json.h"
#include "client/partition/partition.h"
#include "common/hlo/module.h"

namespace hlod::cli {

// The outcome of the attempt: a report, or the sentence why there is none.
struct MeshCheck {
  std::optional<analysis::MeshReport> report;
  std::string undivided_because;
};

// Partitions the module if --mesh is given, or if its target has several chips and its arrays have shardings.
// Returns an error when --mesh or --partitioner do not fit the module or the target. If there is no
// partitioner, or if the module's own mesh has another number of devices than the target, returns the reason
// as a sentence for the report.
absl::StatusOr<MeshCheck> TryToPartition(const CheckOptions& options, const Module& module,
                                         const std::optional<analysis::Target>& target,
                                         const analysis::Budget& budget);

// Returns true when any array of the module has a sharding.
bool HasShardings(const Module& module);

// Returns the program that the partitioner reads: the file's bytes, or the module where options chose sizes.
absl::StatusOr<std::string> ProgramOf(const CheckOptions& options, const Module& module);

// Returns a report on one device of a partitioned module.
absl::StatusOr<analysis::MeshReport> ReportOn(const partition::Partitioned& parts,
                                              const std::optional<analysis::Target>& target,
                                              const analysis::Budget& budget);

// Adds the fields that a report on a mesh has in addition to those of one device.
void AddMesh(const analysis::MeshReport& report, Json& json);

}  // namespace hlod::cli
