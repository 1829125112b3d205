// Programs of several partitions, by XLA's partitioner.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/pjrt/compile/read_program.h"

namespace hlod::pjrt {

// Divides a program whose arrays have shardings among `partitions` partitions, and states the sharding of
// each argument and result. Returns false, with the program as it was, when there is nothing to divide, or
// HLOD_PARTITION=0 says not to. Errors, with the program as it was, say why it cannot be divided: there is no
// jaxlib, or XLA refuses the program. `code` is the program as it came.
absl::StatusOr<bool> DivideByXla(ReadProgram& program, std::string_view code, int partitions);

}  // namespace hlod::pjrt
