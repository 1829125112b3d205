// Modules from files.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "hlod/types.h"

namespace hlod::cli {

// An HLO proto (HloModuleProto or HloProto), HLO text or StableHLO text, whichever the file holds. Errors name the file, and
// for text line and column.
absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path);

}  // namespace hlod::cli
