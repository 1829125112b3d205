// Replaces the custom calls of JAX's programs for GPUs by what its programs for the CPU have in their place.
#pragma once

#include <memory>
#include <string_view>

#include "common/hlo/module.h"

namespace hlod::passes {

// Returns true for the target of such a call.
bool IsGpuTarget(std::string_view target);
// True if the module has a call that ExpandGpuCalls() replaces.
bool HasGpuCalls(const hlo::Module& module);

// Replaces calls of cuSOLVER, hipSOLVER and cuSPARSE by LAPACK's, and Threefry's and those of permutations by
// arithmetic, so that programs lowered for CUDA or ROCm run without a GPU. Calls whose operands, results or
// attributes are not as JAX writes them stay, or become calls that are refused with the reason when the
// module is compiled.
std::unique_ptr<hlo::Module> ExpandGpuCalls(const hlo::Module& module);

}  // namespace hlod::passes
