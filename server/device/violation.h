// A breach of the protocol by the client.
#pragma once

#include <string>
#include <utility>

#include "common/base/errors/error.h"

namespace hlod::device {

// An error with which the session must end. It is a separate type, so that it cannot be dropped or mistaken
// for the refusal of a command (an absl::Status, which answers that command and leaves the session alive).
// ok() is true for a default-constructed Violation, which means that nothing was violated.
class [[nodiscard]] Violation {
 public:
  Violation() = default;
  // `text` is a sentence with the wrong value and the rule.
  explicit Violation(std::string text) : status_(MakeError(ErrorKind::kViolation, std::move(text))) {}

  bool ok() const { return status_.ok(); }
  // The status that the session ends with.
  const absl::Status& status() const { return status_; }

 private:
  absl::Status status_;
};

// Returns a Violation from the enclosing function when `expr` is one.
#define RETURN_IF_VIOLATION(expr)                                                        \
  do {                                                                                   \
    if (::hlod::device::Violation violation = (expr); !violation.ok()) return violation; \
  } while (false)

}  // namespace hlod::device
