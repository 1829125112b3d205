// The kernels of XLA's CPU backend.
#pragma once

#include "client/analysis/module/memory/kernel_graph.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns a computation's kernels as XLA's CPU backend forms them: first those of its library, around
// products and reductions (LibraryRewriter), then loops that compute their operands inside
// (CpuInstructionFusion).
KernelGraph CpuKernels(const hlo::Module& module, const hlo::Computation& computation);

}  // namespace hlod::analysis
