// The kernels of the library of XLA's CPU backend.
#pragma once

#include <vector>

#include "client/analysis/module/memory/kernel_graph.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

// Makes products that the library computes its kernels, and reductions, the last of the text first. Those of
// reductions grow by what only they read and by their only user, as long as the library can compute that;
// they take in other kernels of the library, too. Returns, by instruction, true for the kernels that are the
// library's.
std::vector<bool> FormLibraryKernels(const hlo::Module& module, KernelGraph& graph);

}  // namespace hlod::analysis
