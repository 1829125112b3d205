// Reads preflight logs, the records of abstract sessions (proto/hlod/v1/preflight_log.proto).
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/hlod/v1/preflight_log.pb.h"

namespace hlod::analysis {

struct PreflightLog {
  std::vector<v1::PreflightEvent> events;  // The events, of which the first is `begin`.
  bool cut_off = false;                    // True when the file ends within an event or without `end`.
};

// INVALID_ARGUMENT names the file if it is not a preflight log, or has another version.
absl::StatusOr<PreflightLog> ReadPreflightLog(const std::string& path);

}  // namespace hlod::analysis
