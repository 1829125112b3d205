// Fusion: which instructions become one pass over memory, and the step that runs such a group as a tile
// program.
#pragma once

#include <memory>
#include <vector>

#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// A group of instructions of one computation that run as one step: elementwise ones, broadcasts, iotas,
// reshapes and constants between them, and reduces of recognised reducers at its end (or inside a row:
// softmax, layer norm).
struct FusionGroup {
  std::vector<hlo::NodeId> nodes;   // In computation order.
  std::vector<hlo::NodeId> inputs;  // Values from outside, without repeats: the step's inputs in this order.
  std::vector<hlo::NodeId>
      outputs;  // Nodes used outside the group (or the root): the step's outputs in this order.
};

// Partitions the fusable instructions of `computation`; each node is in at most one group, no group depends
// on itself through another node. `live` says which instructions are needed at all, `effects` which
// computations have side effects (hlo::FindSideEffects). Instructions in no group
// get steps of their own.
std::vector<FusionGroup> PlanFusion(const hlo::Module& module, const hlo::Computation& computation,
                                    const std::vector<bool>& live, const std::vector<bool>& effects);

// Which instructions still have to be computed once the groups read through views: broadcasts and slices that
// only fused steps read are gone. Whatever is needed for the root or a side effect, or is in a needed group.
std::vector<bool> NeededNodes(const hlo::Computation& computation, const std::vector<bool>& live,
                              const std::vector<bool>& effects, const std::vector<FusionGroup>& groups);

// The tile program of a group. Never null for a group that PlanFusion made.
std::unique_ptr<Step> MakeFusedStep(const hlo::Module& module, const hlo::Computation& computation,
                                    const FusionGroup& group, int threads);

}  // namespace hlod::engine
