// One device's share of a program that is divided over a mesh: its cost and memory, what it exchanges, and
// what it holds that others hold, too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/analysis/check/module_check.h"
#include "client/analysis/mesh/arrays.h"
#include "client/analysis/mesh/collectives.h"
#include "client/analysis/mesh/network_time.h"
#include "common/hlo/module.h"
#include "common/hlo/text/shardy.h"

namespace hlod::analysis {

struct MeshReport {
  hlo::Mesh mesh;
  std::string partitioned_by;              // "Shardy of jaxlib 0.10.2".
  ModuleReport device;                     // One device's; its cost and its memory are not divided further.
  std::vector<CollectiveUse> collectives;  // The exchanges of one run of the module.
  // The network of the target; nullopt where the chip's network is not known.
  std::optional<Network> network;
  NetworkUse network_use;  // The use of the network by the collectives.
  std::vector<Replicated> replicated;      // The arrays at the peak that other devices hold, too.
  std::vector<std::string> notes;          // Sentences about the partition.
};

// Checks the module of one device, which is verified. `annotated` is the module before it was divided, with
// the shardings of all arrays; null when there is none, and then no array is known to be replicated. Errors
// as CheckModule and MakeNetwork have them.
absl::StatusOr<MeshReport> CheckMesh(const hlo::Module& device, const hlo::Module* annotated,
                                     const hlo::Mesh& mesh, const std::optional<Target>& target,
                                     const Budget& budget);

// Returns the seconds of a step, with the collectives beside the computation and with nothing beside them.
// REQUIRES: the report has a network.
Bracket StepSecondsOf(const MeshReport& report);

// Returns the collectives, the network and the replicated arrays as text for people.
std::string ExchangeText(const MeshReport& report);
// Returns the report as text for people: that of the device, then the collectives, the network and the
// replicated arrays.
std::string ToText(const MeshReport& report);

}  // namespace hlod::analysis
