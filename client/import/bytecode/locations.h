// Reads the location of an operation in the program's source.
#pragma once

#include "absl/status/statusor.h"
#include "client/import/bytecode/source.h"

namespace hlod::stablehlo::bytecode {

// Reads the index of a location and returns the parts that hlod keeps: a name, and the innermost file and
// line.
absl::StatusOr<Location> ReadLocation(Source& source, Stream& in);

}  // namespace hlod::stablehlo::bytecode
