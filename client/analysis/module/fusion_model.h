// The values that a compiler does not write to memory, for peaks and traffic.
#pragma once

#include <vector>

#include "client/analysis/module/placement.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns, for each instruction of a computation, true when it is computed inside its users: it is
// elementwise or moves elements, each of its users can compute it, and it is cheap or has one user.
std::vector<bool> FusedAway(const hlo::Computation& computation, Compiler compiler);

// Returns true for opcodes that XLA's CPU backend computes in fusions, of several instructions or of one.
bool IsFusible(hlo::Opcode opcode);
// Returns true for products that XLA's CPU backend computes by its library (YNNPACK): of f32, with the
// contracted dimension of the left operand last.
bool IsOfCpuLibrary(hlo::Instruction dot);

}  // namespace hlod::analysis
