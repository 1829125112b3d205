// Writes modules to files.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "hlod/runtime/types.h"

namespace hlod::cli {

// Returns a usage error unless the path's extension is that of a form: .hlo or .txt (HLO text), .pb (HLO
// proto), .mlir (StableHLO text).
absl::Status CheckExtension(const std::string& path);

// Writes a module in the form of the path's extension, and returns the number of bytes. `name` names the
// module in errors.
absl::StatusOr<int64_t> WriteModule(const Module& module, const std::string& name, const std::string& path);

}  // namespace hlod::cli
