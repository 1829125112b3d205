// The exception of tensors.
#include "hlod/error.h"

#include "absl/strings/str_cat.h"

namespace hlod {

// "einsum (model.cc:11): <message>".
Error::Error(absl::Status status, std::string operation, Caller caller)
    : std::runtime_error(absl::StrCat(operation, " (", ToString(Origin{caller.file, caller.line, ""}),
                                      "): ", std::string(status.message()))),
      status_(std::move(status)),
      operation_(std::move(operation)),
      caller_(caller) {}

}  // namespace hlod
