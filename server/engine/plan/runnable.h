// What this build cannot run, said by name before anything is compiled.
#pragma once

#include "absl/status/status.h"
#include "common/hlo/module.h"
#include "server/engine/native/native_kernels.h"

namespace hlod::engine {

// UNIMPLEMENTED naming the instruction and its computation, and the dynamic dimension, collective, host
// transfer, custom-call target or opcode that this build has no way to run; of a target with the nearest that
// it has. Looks at every computation that the entry reaches. `kernels` may be null.
absl::Status CheckRunnable(const hlo::Module& module, const NativeKernels* kernels);
// The same of one custom-call.
absl::Status CheckCustomCall(hlo::Instruction instruction, const NativeKernels* kernels);

}  // namespace hlod::engine
