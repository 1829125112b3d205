// Builds a Program from operations: the module, its functions and its other operations.
#pragma once

#include "client/import/text/operations.h"

namespace hlod::stablehlo::text {

// Reads the whole text. REQUIRES: its aliases were found.
absl::StatusOr<Program> ReadProgram(Source& source);

}  // namespace hlod::stablehlo::text
