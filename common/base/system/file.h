// Reads and writes whole files, with errors that name the file and the system's reason. A folder is not a
// file.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hlod {

// Returns all bytes of a file, pipe or device. NOT_FOUND, PERMISSION_DENIED or INVALID_ARGUMENT (a folder).
absl::StatusOr<std::string> ReadFile(const std::string& path);
// Returns the text of a file that holds a secret (a token, a private key), without surrounding white space.
// Beyond ReadFile's errors it returns INVALID_ARGUMENT when the file is empty, is not a regular file or is
// larger than 1 MiB, when users outside its owner and group may read it, or when anyone but its owner may
// write it.
absl::StatusOr<std::string> ReadSecretFile(const std::string& path);
// Replaces the file's contents. Errors are NOT_FOUND (no such folder), PERMISSION_DENIED, RESOURCE_EXHAUSTED
// (a full disk) or INVALID_ARGUMENT; never UNAVAILABLE, which is reserved for daemons.
absl::Status WriteFile(const std::string& path, std::string_view bytes);

}  // namespace hlod
