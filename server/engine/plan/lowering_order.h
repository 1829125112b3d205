// In which order the instructions of a computation run: program order, but that a fusion group runs as one.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"
#include "server/engine/tile/fusion.h"

namespace hlod::engine {

// Which instructions the root (or a side effect) needs. `effects`: hlo::FindSideEffects of the module.
std::vector<bool> LiveInstructions(const hlo::Computation& computation, const std::vector<bool>& effects);

// A fusion group (index into the groups), or a single instruction.
struct Unit {
  int32_t group = -1;
  hlo::NodeId node = 0;
};

// The units of the live instructions, each after what it reads, otherwise by the position of its last
// instruction: memory then lives about as long as the program's author meant. INTERNAL when a group depends
// on itself.
absl::StatusOr<std::vector<Unit>> OrderUnits(const hlo::Computation& computation,
                                             const std::vector<bool>& live,
                                             const std::vector<FusionGroup>& groups);

}  // namespace hlod::engine
