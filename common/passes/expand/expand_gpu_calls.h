// Replaces the custom calls of JAX's programs for GPUs by what its programs for the CPU have in their place.
#pragma once

#include <memory>

#include "common/hlo/module.h"

namespace hlod::passes {

// True if the module has a call that ExpandGpuCalls() replaces.
bool HasGpuCalls(const hlo::Module& module);

// Replaces calls of cuSOLVER, hipSOLVER and cuSPARSE by LAPACK's, and Threefry's and those of permutations by
// arithmetic, so that programs lowered for CUDA or ROCm run without a GPU. Calls whose operands, results or
// attributes are not as JAX writes them stay, or become calls that are refused with the reason when the
// module is compiled.
std::unique_ptr<hlo::Module> ExpandGpuCalls(const hlo::Module& module);

}  // namespace hlod::passes
