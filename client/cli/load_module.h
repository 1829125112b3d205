// Modules from files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/commands.h"
#include "client/import/import.h"
#include "hlod/types.h"

namespace hlod::cli {

// An HLO proto (HloModuleProto or HloProto), HLO text, StableHLO text or a StableHLO artifact, whichever the
// file holds. Errors name the file, and for text line and column.
absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path, const ReadOptions& options = {});

// What --size, --value and --entry say. A usage error names what is wrong.
absl::StatusOr<ReadOptions> ParseReadOptions(const StablehloOptions& options);

}  // namespace hlod::cli
