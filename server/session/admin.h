// The answers of administration, independent of gRPC.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/session/registry.h"

namespace hlod::session {

// Returns the serialized answer of the method hlod.v1.Admin/`method` to a serialized ListRequest.
// UNIMPLEMENTED for an unknown method.
absl::StatusOr<std::string> AnswerAdmin(Registry& registry, const std::string& method,
                                        const std::string& request);

}  // namespace hlod::session
