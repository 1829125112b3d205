// Programs of several replicas that are run on one device at a time.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "common/hlo/module.h"
#include "hlod/runtime/client.h"
#include "hlod/runtime/executable.h"

namespace hlod::pjrt {

// Returns true when the participants of a module have to be run together: they exchange data, or ask which
// one they are.
bool NeedsAllParticipants(const hlo::Module& module);

// One replica by itself. PyTorch/XLA compiles every program for all devices of the process, and executes it
// on the one device where its arguments are. Thread-safe.
class AloneProgram {
 public:
  // Compiles the replica when it is first asked for.
  // REQUIRES: !NeedsAllParticipants(module).
  absl::StatusOr<hlod::Executable> Get(const hlod::Client& client, const hlo::Module& module);

 private:
  absl::Mutex mu_;
  std::optional<absl::StatusOr<hlod::Executable>> compiled_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::pjrt
