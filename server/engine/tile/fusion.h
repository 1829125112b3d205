// Fusion: finds the instructions that become one pass over memory, and makes the step that runs such a group
// as a tile program.
#pragma once

#include <memory>
#include <vector>

#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// A group of instructions of one computation that run as one step: elementwise ones; broadcasts, iotas,
// reshapes and constants between them; and reduces with recognised reducers at its end (or inside a row:
// softmax, layer norm).
struct FusionGroup {
  std::vector<hlo::NodeId> nodes;   // The group's nodes in computation order.
  std::vector<hlo::NodeId> inputs;  // Values from outside, without duplicates: the step's inputs in this
                                    // order.
  // If not empty, the group runs these groups in turn on each block of rows (row_chains.h).
  std::vector<FusionGroup> phases;
  std::vector<hlo::NodeId>
      outputs;  // Nodes that are used outside the group (or are the root): the step's outputs in this order.
};

// The values that the steps of a computation's single instructions read: most read their operands.
class StepReads {
 public:
  StepReads() = default;  // All read their operands.
  StepReads(const hlo::Module& module, const hlo::Computation& computation);
  // Returns what the step of the instruction reads as operand k: an array of which the operand may be a view
  // (ReadOfOperand), or kNoNode if it does not read it, as argmax does not read the positions.
  hlo::NodeId Of(hlo::Instruction instruction, size_t k) const;

 private:
  std::vector<bool> arg_reduces_;  // FindArgReduces; empty if all read their operands.
};

// Partitions the fusable instructions of `computation`. Each node is in at most one group, and no group
// depends on itself through another node. `live` marks the needed instructions, `effects` the computations
// that have side effects (hlo::FindSideEffects). Instructions outside of groups get their own steps.
std::vector<FusionGroup> PlanFusion(const hlo::Module& module, const hlo::Computation& computation,
                                    const std::vector<bool>& live, const std::vector<bool>& effects,
                                    const StepReads& reads);

// Returns the instructions that must still be computed when groups read through views: those needed for the
// root or a side effect, and those in a needed group. Broadcasts and slices that are read only by fused steps
// are not needed, nor is what no step reads.
std::vector<bool> NeededNodes(const hlo::Computation& computation, const std::vector<bool>& live,
                              const std::vector<bool>& effects, const std::vector<FusionGroup>& groups,
                              const StepReads& reads);

// Returns the step that runs a group's tile program. Never null for a group that PlanFusion made.
std::unique_ptr<Step> MakeFusedStep(const hlo::Module& module, const hlo::Computation& computation,
                                    const FusionGroup& group, int threads);

}  // namespace hlod::engine
