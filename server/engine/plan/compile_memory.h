// Estimates the memory that a compilation takes, so that it can be charged before it is taken.
#pragma once

#include <cstdint>

#include "common/hlo/module.h"

namespace hlod::engine {

// The memory of a step that calls a library, with the code that the library generated for it (measured: 4 to
// 17 KiB for a dot, 8 KiB for a convolution, 3 KiB for a sort).
inline constexpr int64_t kLibraryStepBytes = 8 << 10;

// Returns the bytes of the module's constants in memory, each counted once.
int64_t ConstantBytes(const hlo::Module& module);

// Returns an estimate of the most bytes that Compile takes at one time besides the given module: for its
// instructions, once each computation is laid out at every place that calls it; for the code of contractions;
// for its constants, and for the constants that folding adds. At most INT64_MAX / 2.
int64_t CompileBytes(const hlo::Module& module);

}  // namespace hlod::engine
