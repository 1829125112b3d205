// Whole files in and out, with errors that name the file and the system's reason. A folder is not a file.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hlod {

// All bytes of a file, pipe or device. NOT_FOUND, PERMISSION_DENIED or INVALID_ARGUMENT (a folder).
absl::StatusOr<std::string> ReadFile(const std::string& path);
// The text of a file that holds a secret (a token, a private key), without the blanks around it. Beyond
// ReadFile's errors INVALID_ARGUMENT when the file is empty, when somebody who is neither its owner nor of
// its group may read it, or when anybody but its owner may write it.
absl::StatusOr<std::string> ReadSecretFile(const std::string& path);
// Replaces the file's contents. NOT_FOUND (its folder), PERMISSION_DENIED, RESOURCE_EXHAUSTED (a full disk)
// or INVALID_ARGUMENT; never UNAVAILABLE, which is about daemons.
absl::Status WriteFile(const std::string& path, std::string_view bytes);

}  // namespace hlod
