// The lists of XLA's instruction fusion, for the models of accelerators and of the CPU.
#pragma once

#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns true for opcodes that compute or move each element separately, so that a user can compute the
// element where it is needed.
bool IsElementByElement(hlo::Opcode opcode);

// Returns true for instructions that XLA computes once rather than in each user, on every backend
// (InstructionFusion::IsExpensive).
bool IsExpensive(hlo::Instruction i);

}  // namespace hlod::analysis
