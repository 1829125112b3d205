// Uploads of arrays whose elements lie in any order.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "client/pjrt/buffers/strides.h"
#include "hlod/runtime/buffer.h"
#include "hlod/runtime/device.h"

namespace hlod::pjrt {

// Uploads an array for this thread's line. `data` points at the element whose indices are all 0. The bytes
// may be changed after the return.
absl::StatusOr<hlod::Buffer> UploadArray(const hlod::Device& device, const std::byte* data,
                                         const Strides& strides, const hlo::Shape& shape);

}  // namespace hlod::pjrt
