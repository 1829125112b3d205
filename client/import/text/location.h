// Where an operation stands in the program's source: loc(...).
#pragma once

#include "absl/status/statusor.h"
#include "client/import/operation.h"
#include "client/import/text/source.h"

namespace hlod::stablehlo::text {

// loc(...) if it stands here, which says more about `location`: the outermost name, and of a chain of calls
// the innermost line.
absl::Status ReadOptionalLocation(Source& source, Location& location);

}  // namespace hlod::stablehlo::text
