// Checks, before anything is compiled, that this build can run a module, and names what it cannot run.
#pragma once

#include <algorithm>
#include <cstdint>

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

// The limit on the instructions of a module of the given size, after computations are laid out at each place
// that calls them.
constexpr int64_t LaidOutInstructionsMax(int64_t instructions) {
  constexpr int64_t kMost = 4'000'000;
  if (instructions >= kMost / 16) return kMost;
  return std::min({kMost, 50'000 + 512 * instructions, 1'500'000 + 16 * instructions});
}

}  // namespace hlod::engine
