// Inside Simplify: rules that look at one instruction over operands that are simplified already. Each returns the new instruction that
// stands for the old one, or kNoNode when the rule has nothing to say.
#pragma once

#include "common/passes/copy.h"

namespace hlod {

// Reshapes, transposes, broadcasts, slices, pads, concatenations, tuples.
hlo::NodeId SimplifyMovement(ComputationCopy& copy, hlo::Instruction instruction);
// x*1, max(x, -inf), select(true, x, y), convert of convert.
hlo::NodeId SimplifyArithmetic(ComputationCopy& copy, hlo::Instruction instruction);

inline constexpr hlo::NodeId kUnchanged = hlo::Computation::kNoNode;

}  // namespace hlod
