// Converts statuses between Abseil and gRPC, with hlod's error in the details.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace hlod::rpc {

// Convert a status to a gRPC status with the error in its details, and back. A status without details (made
// by gRPC itself) keeps code and message. Only callers convert UNAVAILABLE from the transport to an error of
// kind lost_session.
grpc::Status ToGrpc(const absl::Status& status);
absl::Status FromGrpc(const grpc::Status& status);

}  // namespace hlod::rpc
