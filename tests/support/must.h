// Ends a bench on the first error: it has nothing to measure after one.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hlod {

// Prints `what` and the error, and ends the process with exit code 1, unless the status is OK.
inline void Must(const absl::Status& status, const char* what) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  std::exit(1);
}

// Does the same for a result, and returns its value.
template <typename T>
T Must(absl::StatusOr<T> result, const char* what) {
  Must(result.status(), what);
  return *std::move(result);
}

}  // namespace hlod
