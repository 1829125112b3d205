// The error that programs meet: what kind, about which handle, made where, and which command's failure it
// goes back to. It travels as the payload of an absl::Status, and on the wire as hlod.v1.Error; both are the
// same bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "common/base/kinds.h"

namespace hlod {

// A line of the user's program. Empty file: unknown.
struct Origin {
  std::string file;
  int line = 0;
  std::string function;
  friend bool operator==(const Origin&, const Origin&) = default;
};
// "model.cc:88", or "an unknown line". Only the last path component of the file, as people say it.
std::string ToString(const Origin& origin);

struct ErrorDetails {
  absl::StatusCode code = absl::StatusCode::kUnknown;
  ErrorKind kind = ErrorKind::kNone;
  uint64_t handle = 0;        // What it is about; 0 for none.
  std::string shape;          // That handle's shape as HLO text.
  Origin origin;              // Where that handle was made.
  uint64_t root_command = 0;  // The command whose failure this is.
  Origin root_origin;         // Its line.
  std::string text;           // The message.
  friend bool operator==(const ErrorDetails&, const ErrorDetails&) = default;
};

// A status with the error as its payload. The code is error.code, or the kind's own when that is kUnknown or
// kOk.
absl::Status ToStatus(ErrorDetails error);
// Shorthand for an error of a kind about nothing in particular.
absl::Status MakeError(ErrorKind kind, std::string text);
inline absl::Status ArgumentError(std::string text) {
  return MakeError(ErrorKind::kArgument, std::move(text));
}
// The same error with a kind, when it has none. OK stays OK.
absl::Status WithKind(const absl::Status& status, ErrorKind kind);
// An error about a program with the kind that its code means, unless it has one: INVALID_ARGUMENT is
// invalid_program, UNIMPLEMENTED is unimplemented.
absl::Status AsProgramError(const absl::Status& status);

// The error a status carries. One without a payload gives its code and message, kind kNone. REQUIRES:
// !status.ok().
ErrorDetails ErrorOf(const absl::Status& status);
// ErrorOf(status).kind, kNone for OK.
ErrorKind KindOf(const absl::Status& status);

}  // namespace hlod
