// The section IR: operations and their regions.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "client/import/bytecode/source.h"

namespace hlod::stablehlo::bytecode {

struct Operations {
  std::vector<Operation> operations;  // Of the top level: builtin.module, with all that it has.
  ValueId values = 0;                 // Ids are below it.
};
absl::StatusOr<Operations> ReadOperations(Source& source);

}  // namespace hlod::stablehlo::bytecode
