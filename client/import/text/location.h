// Reads the location of an operation in the program's source: loc(...).
#pragma once

#include "absl/status/statusor.h"
#include "client/import/program/operation.h"
#include "client/import/text/source.h"

namespace hlod::stablehlo::text {

// Reads loc(...), if it follows, and adds to `location` the outermost name and, of a chain of calls, the
// innermost line.
absl::Status ReadOptionalLocation(Source& source, Location& location);

}  // namespace hlod::stablehlo::text
