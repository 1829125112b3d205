// The data-movement steps, one factory per family. MakeMovementStep (movement.cc) picks by opcode.
#pragma once

#include <memory>
#include <utility>

#include "common/hlo/module.h"
#include "server/engine/movement/copy_nd.h"
#include "server/engine/run/step.h"
#include "server/engine/run/step_copies.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {

// The base of all movement steps.
class MovementStep : public Step {
 public:
  explicit MovementStep(hlo::Instruction instruction)
      : Step(StepKind::kMovement, DescribeStep(instruction)) {}
  // Tells loops of machine code about the copies if they are few, and each is contiguous (of some bytes).
  void OfferCopies(StepCopies copies) {
    int64_t bytes = 0;
    for (const StepCopies::Copy& copy : copies.copies) {
      if (copy.bytes == 0) return;
      bytes += copy.bytes;
    }
    if (bytes <= StepCopies::kBytesMax && copies.copies.size() <= StepCopies::kCopiesMax)
      set_copies(std::make_shared<const StepCopies>(std::move(copies)));
  }
};

// Defined in slice.cc.
MaybeStep MakeDynamicSliceStep(hlo::Instruction instruction);
MaybeStep MakeDynamicUpdateSliceStep(hlo::Instruction instruction);
// Defined in pad.cc.
MaybeStep MakePadStep(hlo::Instruction instruction);
MaybeStep MakeConcatenateStep(hlo::Instruction instruction);
// Defined in interleave.cc: for pairs, triples and quadruples of elements. Returns null for other
// concatenations.
MaybeStep MakeInterleaveStep(hlo::Instruction instruction);
// Defined in iota.cc.
MaybeStep MakeIotaStep(hlo::Instruction instruction);

}  // namespace hlod::engine
