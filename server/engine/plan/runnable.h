// What this build cannot run, said by name before anything is compiled.
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "common/hlo/module.h"
#include "server/engine/native/native_kernels.h"

namespace hlod::engine {

// UNIMPLEMENTED naming the instruction and its computation, and the dynamic dimension, collective, host
// transfer, custom-call target or opcode that this build has no way to run; of a target with the nearest that
// it has. Looks at every computation that the entry reaches. RESOURCE_EXHAUSTED naming the number and the
// limit when calls of calls make the module much larger than what was sent. `kernels` may be null.
absl::Status CheckRunnable(const hlo::Module& module, const NativeKernels* kernels);
// The same of one custom-call.
absl::Status CheckCustomCall(hlo::Instruction instruction, const NativeKernels* kernels);

// Instructions at most of a module of so many, once computations stand at each place that calls them.
constexpr int64_t LaidOutInstructionsMax(int64_t instructions) {
  constexpr int64_t kMost = 4'000'000;
  if (instructions >= kMost / 16) return kMost;
  return std::min({kMost, 50'000 + 512 * instructions, 1'500'000 + 16 * instructions});
}

}  // namespace hlod::engine
