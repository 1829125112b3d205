// Turning statuses into the exception of tensors.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlod/caller.h"
#include "hlod/error.h"

namespace hlod::lazy {

[[noreturn]] inline void Throw(absl::Status status, const char* operation, const Caller& caller) {
  throw Error(std::move(status), operation, CallerScope::Of(caller));
}
[[noreturn]] inline void Throw(ErrorKind kind, std::string text, const char* operation,
                               const Caller& caller) {
  Throw(MakeError(kind, std::move(text)), operation, caller);
}
inline void ThrowIfError(absl::Status status, const char* operation, const Caller& caller) {
  if (!status.ok()) Throw(std::move(status), operation, caller);
}
template <typename T>
T ValueOrThrow(absl::StatusOr<T> value, const char* operation, const Caller& caller) {
  if (!value.ok()) Throw(value.status(), operation, caller);
  return *std::move(value);
}

}  // namespace hlod::lazy
