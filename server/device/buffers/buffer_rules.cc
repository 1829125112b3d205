// Checks of devices, shapes and sizes.
#include "server/device/buffers/buffer_rules.h"

#include <optional>
#include <string>

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/hlo/dynamic/dynamic_result.h"
#include "server/device/session_errors.h"

namespace hlod::device {

absl::Status CheckDevice(uint32_t device, uint32_t count) {
  if (device < count) return absl::OkStatus();
  return MakeError(ErrorKind::kArgument,
                   absl::StrFormat("There is no device %d: this daemon has %d.", device, count));
}

absl::StatusOr<int64_t> CheckBytes(const hlo::Shape& shape, const Limits& limits) {
  const std::optional<int64_t> bytes = StoredByteSize(shape);
  if (bytes.has_value() && *bytes <= limits.buffer_bytes_max) return *bytes;
  const std::string size =
      bytes.has_value() ? absl::StrCat(*bytes, " bytes") : "more bytes than fit a 64-bit number";
  return MakeError(ErrorKind::kLimit,
                   absl::StrFormat("A buffer of shape %s has %s; the limit buffer_bytes_max is %d.",
                                   ShapeText(shape), size, limits.buffer_bytes_max));
}

absl::StatusOr<int64_t> CheckShape(const hlo::Shape& shape, const Limits& limits) {
  if (!shape.IsArray() && !shape.IsToken()) {
    return MakeError(
        ErrorKind::kArgument,
        absl::StrFormat("A buffer of shape %s: only arrays and tokens can be buffers.", ShapeText(shape)));
  }
  if (shape.HasDynamicDimension()) {
    return MakeError(
        ErrorKind::kUnimplemented,
        absl::StrFormat("A buffer of shape %s: dynamic dimensions cannot be stored.", ShapeText(shape)));
  }
  return CheckBytes(shape, limits);
}

}  // namespace hlod::device
