// Names and codes of error kinds and causes, expanded from their tables.
#include "common/base/kinds.h"

namespace hlod {

std::string_view Name(ErrorKind kind) {
  switch (kind) {
#define HLOD_ERROR(id, number, text, code, meaning) \
  case ErrorKind::id: return text;
#include "common/base/errors/errors.inc"
#undef HLOD_ERROR
  }
  return "unknown";
}

absl::StatusCode CodeOf(ErrorKind kind) {
  switch (kind) {
#define HLOD_ERROR(id, number, text, code, meaning) \
  case ErrorKind::id: return absl::StatusCode::code;
#include "common/base/errors/errors.inc"
#undef HLOD_ERROR
  }
  return absl::StatusCode::kUnknown;
}

std::string_view Name(Direction direction) {
  switch (direction) {
    case Direction::kHostToDevice: return "host_to_device";
    case Direction::kDeviceToHost: return "device_to_host";
    case Direction::kDeviceToDevice: return "device_to_device";
  }
  return "unknown";
}

std::string_view Name(Cause cause) {
  switch (cause) {
#define HLOD_CAUSE(id, number, text, direction, meaning) \
  case Cause::id: return text;
#include "common/base/errors/causes.inc"
#undef HLOD_CAUSE
  }
  return "unknown";
}

Direction DirectionOf(Cause cause) {
  switch (cause) {
#define HLOD_CAUSE(id, number, text, direction, meaning) \
  case Cause::id: return Direction::direction;
#include "common/base/errors/causes.inc"
#undef HLOD_CAUSE
  }
  return Direction::kHostToDevice;
}

std::optional<Cause> CauseFromNumber(int number) {
  switch (number) {
#define HLOD_CAUSE(id, number, text, direction, meaning) case number:
#include "common/base/errors/causes.inc"
#undef HLOD_CAUSE
    return static_cast<Cause>(number);
    default: return std::nullopt;
  }
}

}  // namespace hlod
