// Builds a Program from its top-level operations: the last step of both readers.
#pragma once

#include "absl/status/status.h"
#include "client/import/program/operation.h"

namespace hlod::stablehlo {

// Adds a top-level operation to the program: a builtin.module with all its contents, a func.func, or another
// operation.
absl::Status AddToProgram(Operation operation, Program& program);
// Returns an error when two functions have the same name.
absl::Status CheckNames(const Program& program);

}  // namespace hlod::stablehlo
