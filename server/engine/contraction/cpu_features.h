// The instruction sets that the engine's own code and the libraries it calls compute with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace hlod::engine {

// Limits this process, oneDNN and OpenBLAS to a level by its name (common/base/system/cpu_limit.h). "all"
// sets no limit, and leaves the libraries to their own variables (ONEDNN_MAX_CPU_ISA, OPENBLAS_CORETYPE).
// Returns INVALID_ARGUMENT as ParseCpuLimit does. Must be called before a program is compiled and before any
// other thread runs.
absl::Status LimitCpuFeatures(std::string_view limit);

// Returns the level in use, then the instructions in use that not every processor of the level has:
// {"avx512", "f16c", "vpopcntdq", "vnni", "bf16", "amx"}. The last three are oneDNN's, which fixes its choice
// at the first call.
std::vector<std::string> CpuFeatures();

}  // namespace hlod::engine
