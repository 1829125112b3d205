// What this build cannot run, said by name before anything is compiled.
#pragma once

#include "absl/status/status.h"
#include "common/hlo/module.h"

namespace hlod::engine {

// UNIMPLEMENTED naming the instruction and its computation, and the dynamic dimension, collective, host
// transfer, custom-call target or opcode that this build has no way to run. Looks at every computation that
// the entry reaches.
absl::Status CheckRunnable(const hlo::Module& module);

}  // namespace hlod::engine
