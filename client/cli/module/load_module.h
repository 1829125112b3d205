// Reads modules from files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/commands.h"
#include "client/import/import.h"
#include "hlod/runtime/types.h"

namespace hlod::cli {

// Reads the HLO proto (HloModuleProto or HloProto), HLO text, StableHLO text or StableHLO artifact that the
// file holds. Errors name the file, and for text the line and column.
absl::StatusOr<std::unique_ptr<Module>> LoadModule(const std::string& path, const ReadOptions& options = {});

// Parses --size, --value and --entry. Returns a usage error that names the malformed option.
absl::StatusOr<ReadOptions> ParseReadOptions(const StablehloOptions& options);

}  // namespace hlod::cli
