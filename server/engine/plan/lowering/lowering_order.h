// The order in which the instructions of a computation run: program order, except that a fusion group runs as
// one.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"
#include "server/engine/tile/fusion.h"

namespace hlod::engine {

// Returns, by node, true when the root or a side effect needs it. `effects` is hlo::FindSideEffects of the
// module.
std::vector<bool> LiveInstructions(const hlo::Computation& computation, const std::vector<bool>& effects);

// A fusion group (index into the groups), or a single instruction.
struct Unit {
  int32_t group = -1;
  hlo::NodeId node = 0;
};

// Returns the units of the live instructions. Each one comes after the units that it reads, and otherwise
// they are ordered by the position of their last instruction, so that values live about as long as the
// program's author intended. Returns INTERNAL when a group depends on itself.
absl::StatusOr<std::vector<Unit>> OrderUnits(const hlo::Computation& computation,
                                             const std::vector<bool>& live,
                                             const std::vector<FusionGroup>& groups, const StepReads& reads);

}  // namespace hlod::engine
