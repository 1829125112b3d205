// Errors as the framework holds them.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "client/pjrt/abi/error.h"

namespace hlod::pjrt {

// Newer frameworks call an error's functions directly: the first word points at their table.
class Error {
 public:
  explicit Error(absl::Status status);

  const absl::Status& status() const { return status_; }
  std::string_view message() const { return message_; }

 private:
  const abi::ErrorFunctions* const functions_;
  const absl::Status status_;
  const std::string message_;
};

// Returns a new error, which the framework destroys; null for OK.
Error* ToError(absl::Status status);

// Returns the status of an error that the framework's code and text describe.
absl::Status ToStatus(abi::ErrorCode code, const char* message, size_t message_size);

}  // namespace hlod::pjrt
