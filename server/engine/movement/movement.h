// The data-movement steps, one factory a family; MakeMovementStep (movement.cc) picks by opcode.
#pragma once

#include "common/hlo/module.h"
#include "server/engine/movement/copy_nd.h"
#include "server/engine/run/step.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {

// What all movement steps have in common.
class MovementStep : public Step {
 public:
  explicit MovementStep(hlo::Instruction instruction)
      : Step(StepKind::kMovement, DescribeStep(instruction)) {}
};

// movement_slice.cc: dynamic-slice, dynamic-update-slice.
MaybeStep MakeDynamicSliceStep(hlo::Instruction instruction);
MaybeStep MakeDynamicUpdateSliceStep(hlo::Instruction instruction);
// movement_pad.cc
MaybeStep MakePadStep(hlo::Instruction instruction);
MaybeStep MakeConcatenateStep(hlo::Instruction instruction);
// movement_iota.cc
MaybeStep MakeIotaStep(hlo::Instruction instruction);

}  // namespace hlod::engine
