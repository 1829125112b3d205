// The rules of Simplify. Each is applied to an instruction whose operands are simplified already, and returns
// the new instruction that replaces it, or kUnchanged if the rule does not apply.
#pragma once

#include <optional>

#include "common/passes/copy.h"

namespace hlod::passes {

inline constexpr hlo::NodeId kUnchanged = hlo::Computation::kNoNode;

// Simplifies reshapes, transposes, broadcasts, slices, pads, concatenations, tuples.
hlo::NodeId SimplifyMovement(ComputationCopy& copy, hlo::Instruction instruction);
// Simplifies x*1, max(x, -inf), select(true, x, y), convert of convert, and computes results whose elements
// are all equal as scalars.
hlo::NodeId SimplifyArithmetic(ComputationCopy& copy, hlo::Instruction instruction);

// Merges transposes into the dots that use or feed them, and makes products of dots that add nothing up.
hlo::NodeId SimplifyContraction(ComputationCopy& copy, hlo::Instruction instruction);

// Simplifies reductions of one element, and of arrays that were concatenated along a reduced dimension.
hlo::NodeId SimplifyReduction(ComputationCopy& copy, hlo::Instruction instruction);

// Simplifies sums over windows that have one element each, among holes.
hlo::NodeId SimplifyWindows(ComputationCopy& copy, hlo::Instruction instruction);

// Returns the value of a scalar constant, or of a broadcast of one; nullopt for complex constants and other
// instructions.
std::optional<double> SplatValue(hlo::Instruction instruction);

// Returns the scalar of a broadcast scalar, which stays a broadcast scalar under every movement; kUnchanged
// for other instructions.
hlo::NodeId SplatSource(hlo::Instruction instruction);

// Returns true for operations that may take their operands in any order, and grouped in any way up to
// rounding.
bool IsCommutative(hlo::Opcode opcode);

}  // namespace hlod::passes
