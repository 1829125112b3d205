// From operations to a Program: the module, its functions, and what else stands in it.
#pragma once

#include "client/import/text/operations.h"

namespace hlod::stablehlo::text {

// The whole text, whose aliases were found.
absl::StatusOr<Program> ReadProgram(Source& source);

}  // namespace hlod::stablehlo::text
