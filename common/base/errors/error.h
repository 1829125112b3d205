// The error that programs see: its kind, the handle that it concerns, the line that made the handle, and the
// command whose failure is the root cause. It is the payload of an absl::Status, and hlod.v1.Error on the
// wire, with the same bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "common/base/kinds.h"

namespace hlod {

// A line of the user's program. An empty file means unknown.
struct Origin {
  std::string file;
  int line = 0;
  std::string function;
  friend bool operator==(const Origin&, const Origin&) = default;
};
// Returns "model.cc:88", or "an unknown line". Keeps only the last path component of the file.
std::string ToString(const Origin& origin);

struct ErrorDetails {
  absl::StatusCode code = absl::StatusCode::kUnknown;
  ErrorKind kind = ErrorKind::kNone;
  uint64_t handle = 0;        // The handle that the error concerns; 0 for none.
  std::string shape;          // The shape of that handle as HLO text.
  Origin origin;              // The line where that handle was made.
  uint64_t root_command = 0;  // The command whose failure is the root cause.
  Origin root_origin;         // The line of that command.
  std::string text;           // The message.
  friend bool operator==(const ErrorDetails&, const ErrorDetails&) = default;
};

// Returns a status with the error as its payload. The code is error.code, or the kind's own code when
// error.code is kUnknown or kOk.
absl::Status ToStatus(ErrorDetails error);
// Returns an error of this kind that is about no handle.
absl::Status MakeError(ErrorKind kind, std::string text);
inline absl::Status ArgumentError(std::string text) {
  return MakeError(ErrorKind::kArgument, std::move(text));
}
// Returns the error with this kind if it has none yet. OK stays OK.
absl::Status WithKind(const absl::Status& status, ErrorKind kind);
// Returns an error about a program with the kind implied by its code, unless it has a kind: INVALID_ARGUMENT
// becomes invalid_program, UNIMPLEMENTED becomes unimplemented.
absl::Status AsProgramError(const absl::Status& status);

// Returns the error that a status carries. For a status without a payload that is its code and message, with
// kind kNone. REQUIRES: !status.ok().
ErrorDetails ErrorOf(const absl::Status& status);
// Returns ErrorOf(status).kind, or kNone for OK.
ErrorKind KindOf(const absl::Status& status);

}  // namespace hlod
