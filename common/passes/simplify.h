// Inside Simplify: rules that look at one instruction over operands that are simplified already. Each returns
// the new instruction that stands for the old one, or kNoNode when the rule has nothing to say.
#pragma once

#include <optional>

#include "common/passes/copy.h"

namespace hlod {

// Reshapes, transposes, broadcasts, slices, pads, concatenations, tuples.
hlo::NodeId SimplifyMovement(ComputationCopy& copy, hlo::Instruction instruction);
// x*1, max(x, -inf), select(true, x, y), convert of convert.
hlo::NodeId SimplifyArithmetic(ComputationCopy& copy, hlo::Instruction instruction);

// Dots that take in the transposes around them, reductions of one element.
hlo::NodeId SimplifyContraction(ComputationCopy& copy, hlo::Instruction instruction);

// The one value of a scalar constant, or of a broadcast of one; complex ones have none.
std::optional<double> SplatValue(hlo::Instruction instruction);

inline constexpr hlo::NodeId kUnchanged = hlo::Computation::kNoNode;

}  // namespace hlod
