// The instructions that XLA's CPU backend leaves to its library of kernels (YNNPACK, jaxlib 0.10).
#pragma once

#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns true for a product, convolution or reduction that the library computes, with its neighbours inside.
bool StartsLibraryKernel(const hlo::Module& module, hlo::Instruction i);

// Returns true for an instruction that the library can compute inside of such a kernel.
bool IsOfCpuLibrary(const hlo::Module& module, hlo::Instruction i);

}  // namespace hlod::analysis
