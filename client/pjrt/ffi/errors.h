// Errors as handlers hold them.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "client/pjrt/ffi/abi.h"
#include "common/base/text/strings.h"

namespace hlod::pjrt::ffi {

class Error {
 public:
  explicit Error(const absl::Status& status) : status_(status), message_(FromAbsl(status.message())) {}
  const absl::Status& status() const { return status_; }
  const std::string& message() const { return message_; }

 private:
  const absl::Status status_;
  const std::string message_;
};

// Returns a new error, which its receiver destroys; null for OK.
inline Error* Make(const absl::Status& status) { return status.ok() ? nullptr : new Error(status); }
// Destroys an error, which may be null, and returns its status.
inline absl::Status Take(Error* error) {
  const std::unique_ptr<Error> held(error);
  return held == nullptr ? absl::OkStatus() : held->status();
}

}  // namespace hlod::pjrt::ffi
