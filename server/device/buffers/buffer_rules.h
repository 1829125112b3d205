// Checks of the buffers that a client asks for.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "common/base/limits.h"
#include "common/hlo/shape.h"

namespace hlod::device {

// Returns an error unless `device` is less than `count`.
absl::Status CheckDevice(uint32_t device, uint32_t count);
// Returns the dense bytes of a shape, or an error when they exceed buffer_bytes_max.
absl::StatusOr<int64_t> CheckBytes(const hlo::Shape& shape, const Limits& limits);
// Returns the dense bytes of a shape that a client named. It must be a token (of 0 bytes) or an array without
// dynamic dimensions, within the limits.
absl::StatusOr<int64_t> CheckShape(const hlo::Shape& shape, const Limits& limits);

}  // namespace hlod::device
