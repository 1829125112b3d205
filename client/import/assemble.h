// A program from the operations of the top level: the last step of both readers.
#pragma once

#include "absl/status/status.h"
#include "client/import/operation.h"

namespace hlod::stablehlo {

// Adds an operation of the top level to the program: a builtin.module with all it has, a func.func, another.
absl::Status AddToProgram(Operation operation, Program& program);
// Error: two functions have one name.
absl::Status CheckNames(const Program& program);

}  // namespace hlod::stablehlo
