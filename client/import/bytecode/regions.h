// Reads the section IR: operations and their regions.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "client/import/bytecode/source.h"

namespace hlod::stablehlo::bytecode {

struct Operations {
  std::vector<Operation> operations;  // The top level: builtin.module with all its contents.
  ValueId values = 0;                 // All value ids are below it.
};
absl::StatusOr<Operations> ReadOperations(Source& source);

}  // namespace hlod::stablehlo::bytecode
