// Tells exceptions for lack of memory from others.
#include "common/base/errors/exceptions.h"

#include <new>
#include <stdexcept>

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"

namespace hlod {

absl::Status ExceptionError(std::string_view what, const std::exception& e) noexcept try {
  // Containers throw length_error for a size that no memory could hold.
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr ||
      dynamic_cast<const std::length_error*>(&e) != nullptr) {
    return MakeError(ErrorKind::kNoMemory,
                     absl::StrFormat("%s: the process finds no memory (%s).", std::string(what), e.what()));
  }
  return Internal("%s: %s.", std::string(what), e.what());
} catch (const std::exception&) {
  return absl::Status(absl::StatusCode::kResourceExhausted, "");
}

}  // namespace hlod
