// What both sides check of tokens and certificates before gRPC sees them: it aborts, or says nothing, on bad
// ones.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace hlod::rpc {

// A token travels as metadata: printable ASCII, no blank at either end, not empty. INVALID_ARGUMENT saying
// which byte is not; never the token itself.
absl::Status CheckToken(const std::string& token);

// INVALID_ARGUMENT unless `pem` holds at least one certificate.
absl::Status CheckCertificates(const std::string& pem);
// INVALID_ARGUMENT unless `key` holds a private key, and that of the first certificate of `certificates`.
absl::Status CheckKey(const std::string& key, const std::string& certificates);

}  // namespace hlod::rpc
