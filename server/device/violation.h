// What a client did against the protocol.
#pragma once

#include <string>
#include <utility>

#include "common/base/errors/error.h"

namespace hlod::device {

// The session must end with it. A type of its own, so that it cannot be mistaken for the refusal of a command
// (an absl::Status, which answers that command and leaves the session alive), nor be dropped. Whether it is
// one, `ok()` says: a default-constructed Violation is none.
class [[nodiscard]] Violation {
 public:
  Violation() = default;
  // What was wrong: a sentence with the value and the rule.
  explicit Violation(std::string text) : status_(MakeError(ErrorKind::kViolation, std::move(text))) {}

  bool ok() const { return status_.ok(); }
  // What the session ends with.
  const absl::Status& status() const { return status_; }

 private:
  absl::Status status_;
};

// Returns from the enclosing function, which returns a Violation, when `expr` is one.
#define RETURN_IF_VIOLATION(expr)                                                        \
  do {                                                                                   \
    if (::hlod::device::Violation violation = (expr); !violation.ok()) return violation; \
  } while (false)

}  // namespace hlod::device
