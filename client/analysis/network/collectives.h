// The collectives of a partitioned module: what its devices send to one another, how often, and the lines of
// the user's program that they come from.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/analysis/module/source_lines.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/module.h"
#include "common/hlo/text/shardy.h"

namespace hlod::analysis {

struct CollectiveUse {
  std::string name;     // "all-reduce.3".
  std::string op_name;  // The user's operation, as JAX writes it; may be empty.
  SourceLine source;
  hlo::Collective collective;  // The opcode and the groups of participants.
  // The bytes of all arrays that one device contributes: the operands.
  double operand_bytes = 0;
  double runs = 1;  // The number of runs, with loop bodies counted once per iteration.
};

// Returns the collectives of a module in the order of its instructions, those of called computations first. A
// collective that was started and ended is one. Returns the error of ReadCollective for a group that does not
// fit the module's participants.
absl::StatusOr<std::vector<CollectiveUse>> CollectivesOf(const hlo::Module& module);

// Returns the axes along which the members of the groups differ, "data" or "data, model"; empty when the mesh
// has no axes or the participants are not its devices.
std::string AxesOf(const hlo::Collective& collective, const hlo::Mesh& mesh);

}  // namespace hlod::analysis
