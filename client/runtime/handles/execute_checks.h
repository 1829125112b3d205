// The checks of an execute that need no daemon, so that its error names the caller's line at once.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/runtime/session/state.h"
#include "hlod/runtime/executable.h"

namespace hlod::runtime {

// Returns an error unless `index` names a buffer among the arguments, which can be donated.
absl::Status CheckDonation(const ExecutableState& executable, absl::Span<const Argument> arguments, int index,
                           const Caller& caller);

// Returns an error about the first wrong argument, option or device that the client knows of. `devices` has
// one per participant, if the program and the options agree, and `own` those whose participants this process
// runs, to which the arguments and results belong.
absl::Status CheckExecute(ExecutableState& executable, absl::Span<const Argument> arguments,
                          const ExecuteOptions& options, bool is_abstract, const std::vector<int>& devices,
                          const std::vector<int>& own, const Caller& caller);

}  // namespace hlod::runtime
