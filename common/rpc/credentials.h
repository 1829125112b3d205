// Checks tokens and certificates, on both sides, before gRPC gets them: gRPC aborts, or reports nothing, for
// bad ones.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace hlod::rpc {

// A token is sent as metadata: it must be printable ASCII, not empty, without a blank at either end.
// INVALID_ARGUMENT says which byte is wrong, without showing the token.
absl::Status CheckToken(const std::string& token);

// Returns INVALID_ARGUMENT unless `pem` contains at least one certificate.
absl::Status CheckCertificates(const std::string& pem);
// Returns INVALID_ARGUMENT unless `key` contains a private key that belongs to the first certificate of
// `certificates`.
absl::Status CheckKey(const std::string& key, const std::string& certificates);

// Returns the URIs that the first certificate names as its subject (subjectAltName), in order.
std::vector<std::string> UrisOf(const std::string& certificates);

// The beginning of the URI by which a certificate names a daemon of a cluster; the daemon's name follows:
// "hlod://train/daemon/n3".
std::string DaemonUriPrefix(const std::string& cluster);

}  // namespace hlod::rpc
