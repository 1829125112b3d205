// Limits the process to TLS 1.3. gRPC 1.51 accepts TLS 1.2, too, and has no option for it.
#pragma once

#include "absl/status/status.h"

namespace hlod {

// Forbids TLS 1.2 in all connections whose credentials are made from now on. Other settings of the machine's
// OpenSSL configuration stay in force.
absl::Status RequireTls13();

}  // namespace hlod
