// Error kinds and transfer causes: two closed sets, with one table per set (errors.inc, causes.inc).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"

namespace hlod {

enum class ErrorKind : int {
#define HLOD_ERROR(id, number, text, code, meaning) id = number,
#include "common/base/errors/errors.inc"
#undef HLOD_ERROR
};
// Returns "placeholder", "lost_session", ...; "unknown" for a number that this build does not have.
std::string_view Name(ErrorKind kind);
// Returns the canonical code of errors of this kind.
absl::StatusCode CodeOf(ErrorKind kind);

enum class Direction : uint8_t { kHostToDevice, kDeviceToHost, kDeviceToDevice };
// Returns "host_to_device", ...
std::string_view Name(Direction direction);

enum class Cause : int {
#define HLOD_CAUSE(id, number, text, direction, meaning) id = number,
#include "common/base/errors/causes.inc"
#undef HLOD_CAUSE
};
std::string_view Name(Cause cause);
Direction DirectionOf(Cause cause);
// Returns the cause with this wire number, or nullopt.
std::optional<Cause> CauseFromNumber(int number);

}  // namespace hlod
