// The exception that tensors throw. The runtime below them (client.h, device.h) returns absl::Status instead.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "common/base/errors/error.h"
#include "hlod/runtime/caller.h"

namespace hlod {

// Thrown for misuse of a tensor, and when a value that failed is read. what() is one sentence that names the
// operation, its arguments and the line of the program that called it. The program may go on: an operation
// that throws has not changed anything.
class Error : public std::runtime_error {
 public:
  Error(absl::Status status, std::string operation, Caller caller);

  // The error as the runtime returns it: a code, with ErrorDetails as payload.
  const absl::Status& status() const { return status_; }
  // kPlaceholder, kDonated, kFailed, kArgument, ... (common/base/errors/errors.inc).
  ErrorKind kind() const { return KindOf(status_); }
  // The operation's name in PyTorch: "einsum", "item".
  const std::string& operation() const { return operation_; }
  // The line of the program that called the operation.
  const Caller& caller() const { return caller_; }

 private:
  absl::Status status_;
  std::string operation_;
  Caller caller_;
};

}  // namespace hlod
