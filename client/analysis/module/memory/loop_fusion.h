// The decisions of XLA's CPU backend about what a loop computes inside.
#pragma once

#include <vector>

#include "client/analysis/module/memory/kernel_graph.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns true for opcodes that XLA's CPU backend computes in loops, element by element.
bool IsLoop(hlo::Opcode opcode);

// Grows the kernels that are loops, the last of the text first, by operands that they compute inside.
// `closed` has the kernels, by instruction, that neither grow nor are computed inside.
void FuseLoops(const std::vector<bool>& closed, KernelGraph& graph);

}  // namespace hlod::analysis
