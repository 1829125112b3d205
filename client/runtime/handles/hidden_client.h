// A connection of the library's own, of which the program does not know.
#pragma once

#include "absl/status/statusor.h"
#include "hlod/runtime/client.h"

namespace hlod::runtime {

// Starts a private daemon and connects to it. The session is neither observed nor reported: it has no events,
// no metrics, no part in the account, the profile or the command log, and its recompiles are not warned of.
// HLOD_ABSTRACT and HLOD_ADDRESS do not concern it.
absl::StatusOr<Client> ConnectHidden(const ConnectOptions& options);

}  // namespace hlod::runtime
