// Errors as values: absl::Status, two macros that return errors to the caller, and functions that make errors
// with formatted messages.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "common/base/text/strings.h"

// Evaluates `expr` (an absl::Status), and returns it from the enclosing function unless it is OK.
#define RETURN_IF_ERROR(expr)                                                        \
  do {                                                                               \
    if (absl::Status hlod_status_ = (expr); !hlod_status_.ok()) return hlod_status_; \
  } while (false)

#define HLOD_CONCAT_INNER_(a, b) a##b
#define HLOD_CONCAT_(a, b) HLOD_CONCAT_INNER_(a, b)

// ASSIGN_OR_RETURN(const Shape shape, InferShape(...)): declares or assigns the value, or returns the error.
#define ASSIGN_OR_RETURN(lhs, expr) ASSIGN_OR_RETURN_IMPL_(HLOD_CONCAT_(hlod_or_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_IMPL_(tmp, lhs, expr)   \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return std::move(tmp).status(); \
  lhs = *std::move(tmp)

namespace hlod {

// Functions that make errors; they format like absl::StrFormat: InvalidArgument("Operand %d of %s ...", i,
// name).
#define HLOD_STATUS_MAKER_(name)                                                    \
  template <typename... Args>                                                       \
  absl::Status name(const absl::FormatSpec<Args...>& format, const Args&... args) { \
    return absl::name##Error(absl::StrFormat(format, args...));                     \
  }
HLOD_STATUS_MAKER_(InvalidArgument)
HLOD_STATUS_MAKER_(NotFound)
HLOD_STATUS_MAKER_(AlreadyExists)
HLOD_STATUS_MAKER_(FailedPrecondition)
HLOD_STATUS_MAKER_(ResourceExhausted)
HLOD_STATUS_MAKER_(Unimplemented)
HLOD_STATUS_MAKER_(Internal)
HLOD_STATUS_MAKER_(Unavailable)
HLOD_STATUS_MAKER_(DataLoss)
HLOD_STATUS_MAKER_(Aborted)
HLOD_STATUS_MAKER_(Cancelled)
HLOD_STATUS_MAKER_(DeadlineExceeded)
#undef HLOD_STATUS_MAKER_

// Returns the error with " - While <context>" appended on a separate line; code and payloads are kept. OK
// stays OK.
absl::Status Annotate(absl::Status status, std::string_view context);

}  // namespace hlod
