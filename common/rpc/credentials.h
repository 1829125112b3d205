// Checks tokens and certificates, on both sides, before gRPC gets them: it aborts, or stays silent, on bad
// ones.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace hlod::rpc {

// A token travels as metadata: printable ASCII, without a blank at either end, not empty. INVALID_ARGUMENT
// says which byte is wrong, and never shows the token itself.
absl::Status CheckToken(const std::string& token);

// INVALID_ARGUMENT unless `pem` holds at least one certificate.
absl::Status CheckCertificates(const std::string& pem);
// INVALID_ARGUMENT unless `key` holds a private key that belongs to the first certificate of `certificates`.
absl::Status CheckKey(const std::string& key, const std::string& certificates);

}  // namespace hlod::rpc
