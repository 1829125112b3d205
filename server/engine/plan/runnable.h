// Checks, before anything is compiled, that this build can run a module, and names what it cannot run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/hlo/module.h"
#include "server/engine/native/native_kernels.h"

namespace hlod::engine {

// Returns UNIMPLEMENTED naming the instruction, its computation, and the dynamic dimension, collective, host
// transfer, custom-call target or opcode that this build cannot run; for a target also the nearest one that
// it knows. Checks every computation that the entry reaches. Returns RESOURCE_EXHAUSTED naming the number and
// the limit when nested calls make the module much larger than what was sent. `kernels` may be null.
absl::Status CheckRunnable(const hlo::Module& module, const NativeKernels* kernels);
// Checks one custom-call in the same way.
absl::Status CheckCustomCall(hlo::Instruction instruction, const NativeKernels* kernels);

// Returns the sum of the weights of all instructions after each computation is laid out at every place that
// calls it, at most kLaidOutSumMax. Computations that are applied to elements are not counted. REQUIRES:
// weights are between 0 and kLaidOutSumMax.
inline constexpr int64_t kLaidOutSumMax = INT64_MAX / 2;
int64_t SumLaidOut(const hlo::Module& module, absl::FunctionRef<int64_t(hlo::Instruction)> weight);

// The limit on the instructions of a module of the given size, after computations are laid out at each place
// that calls them.
constexpr int64_t LaidOutInstructionsMax(int64_t instructions) {
  constexpr int64_t kMost = 4'000'000;
  if (instructions >= kMost / 16) return kMost;
  return std::min({kMost, 50'000 + 512 * instructions, 1'500'000 + 16 * instructions});
}

}  // namespace hlod::engine
