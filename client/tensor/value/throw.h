// Converts statuses to Error, the exception of tensors.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlod/runtime/caller.h"
#include "hlod/runtime/error.h"

namespace hlod::lazy {

// Returns the error with the kind that its code implies: an unusable path, text or number is an argument
// error. Errors that have a kind keep it.
inline absl::Status WithKindOfCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kOutOfRange: return WithKind(status, ErrorKind::kArgument);
    case absl::StatusCode::kUnimplemented: return WithKind(status, ErrorKind::kUnimplemented);
    case absl::StatusCode::kDataLoss: return WithKind(status, ErrorKind::kCorrupt);
    default: return status;
  }
}

[[noreturn]] inline void Throw(const absl::Status& status, const char* operation, const Caller& caller) {
  throw Error(WithKindOfCode(status), operation, CallerScope::Of(caller));
}
[[noreturn]] inline void Throw(ErrorKind kind, std::string text, const char* operation,
                               const Caller& caller) {
  Throw(MakeError(kind, std::move(text)), operation, caller);
}
inline void ThrowIfError(const absl::Status& status, const char* operation, const Caller& caller) {
  if (!status.ok()) Throw(status, operation, caller);
}
template <typename T>
T ValueOrThrow(absl::StatusOr<T> value, const char* operation, const Caller& caller) {
  if (!value.ok()) Throw(value.status(), operation, caller);
  return *std::move(value);
}

}  // namespace hlod::lazy
