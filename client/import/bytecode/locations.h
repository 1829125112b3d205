// Where an operation stands in the program's source.
#pragma once

#include "absl/status/statusor.h"
#include "client/import/bytecode/source.h"

namespace hlod::stablehlo::bytecode {

// The index of a location, and what hlod keeps of it: a name, and the innermost file and line.
absl::StatusOr<Location> ReadLocation(Source& source, Stream& in);

}  // namespace hlod::stablehlo::bytecode
