// Which buffers a client may ask for.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "common/base/limits.h"
#include "common/hlo/shape.h"

namespace hlod::device {

// Whether there is such a device.
absl::Status CheckDevice(uint32_t device, uint32_t count);
// The dense bytes of a shape, when one buffer may have as many (buffer_bytes_max).
absl::StatusOr<int64_t> CheckBytes(const hlo::Shape& shape, const Limits& limits);
// The dense bytes of a shape that a client names: an array without dynamic dimensions, and not too large, or
// a token, which has none.
absl::StatusOr<int64_t> CheckShape(const hlo::Shape& shape, const Limits& limits);

}  // namespace hlod::device
