// Element types by the interface's numbers, which are not those of XLA's protos.
#pragma once

#include "absl/status/statusor.h"
#include "client/pjrt/abi/base.h"
#include "common/hlo/primitive_type.h"

namespace hlod::pjrt {

// UNIMPLEMENTED for a number that no type of HLO has.
absl::StatusOr<hlo::PrimitiveType> FromBufferType(abi::BufferType type);
// Returns 0 (invalid) for a type that buffers do not have.
abi::BufferType ToBufferType(hlo::PrimitiveType type);

}  // namespace hlod::pjrt
